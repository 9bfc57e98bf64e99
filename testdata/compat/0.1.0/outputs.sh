# Each command that writes lines for programs, into json/NAME.jsonl.
set -u
lines() { name=$1; shift; remit "$@" --json >"json/$name.jsonl"; code=$?; test $code -le 5 || exit $code; }
lines validate validate
lines plan plan
lines plan-blocked plan --target=transfer.platform.twin --target=transfer.platform.fee
lines show-plan show payroll.plan
lines show-plan-blocked show blocked.plan
lines show-plan-schedule show schedule.plan
lines show show
lines show-run show --run=latest
lines status status
lines state-list state list
lines state-show state show oct-ana
lines state-show-unmade state show unmade
lines state-verify state verify
lines state-backup state backup --out=json/backup.db
rm json/backup.db
remit state export >json/state-export.jsonl || exit
lines reconcile reconcile
lines report report --month=2026-11 # that of its state
lines audit-log audit log
lines audit-verify audit verify
lines schedule-preview schedule preview dues
lines test test
lines version version
lines error show --run=nobody
