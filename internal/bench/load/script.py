"""Pays every row of a file once: the script that one would write without remit.

Sends one transfer after the other and notes each in SQLite before the next one. Like such
scripts do, it notes a transfer after it was sent, so a crash in between pays it again.
"""

import csv
import json
import sqlite3
import sys
import urllib.request

url, path, database = sys.argv[1:]
db = sqlite3.connect(database)
db.execute("CREATE TABLE IF NOT EXISTS paid (ref_id TEXT PRIMARY KEY, group_id TEXT, answer TEXT)")
with open(path, newline="") as rows:
    for row in csv.DictReader(rows):
        ref_id = "payout-" + row["id"]
        if db.execute("SELECT 1 FROM paid WHERE ref_id = ?", (ref_id,)).fetchone():
            continue
        body = {
            "ref_id": ref_id,
            "from_profile_id": "0acfa5a6-6f2e-41af-a833-48e301197ffd",
            "to_profile_id": row["profile_id"],
            "amount": row["amount"],
            "asset": "USD",
            "metadata": {"id": row["id"], "team": row["team"]},
        }
        request = urllib.request.Request(
            url + "/v2/transfer/internal",
            data=json.dumps(body).encode(),
            headers={"Authorization": "Bearer bench", "Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as response:
            answer = response.read().decode()
        db.execute("INSERT INTO paid VALUES (?, ?, ?)", (ref_id, json.loads(answer)["group_id"], answer))
        db.commit()
