"use strict";
(() => {
  const form = document.getElementById("ask");
  if (!form) return;
  const said = document.getElementById("said");
  const button = form.querySelector("button");
  const isNew = form.dataset.ask === "create";

  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (letter) => letter.charCodeAt(0));
  const text = (buffer) => btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(""));
  const url = (buffer) => text(buffer).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const credentials = (form.dataset.ids ?? "").split(" ").filter(Boolean).map((id) => ({ type: "public-key", id: bytes(id) }));

  const say = (words, tone) => {
    said.textContent = words.charAt(0).toUpperCase() + words.slice(1).replace(/([^.?!])$/, "$1.");
    said.className = tone;
  };

  // A total of other signs is told before the passkey is asked for, and the field to correct has the focus.
  const totals = Array.from(form.querySelectorAll("[data-asset]"));
  const correct = (field) => {
    field.focus();
    field.select();
  };
  const isForeign = (total) => /,\d{1,2}$|\.\d+,|\d['\u2019\s]\d/.test(total.trim());
  const focusOn = (error) => {
    const wrong = totals.find((field) => error.includes(" of " + field.dataset.asset)) ?? (/ transfers/.test(error) ? form.count : undefined);
    if (wrong) correct(wrong);
  };

  // What the person does with their authenticator, as the server reads it.
  const get = async (signal) => {
    const given = await navigator.credentials.get({
      signal,
      publicKey: { challenge: bytes(form.dataset.challenge), rpId: form.dataset.rpId, allowCredentials: credentials, userVerification: "required", timeout: 300000 },
    });
    return {
      count: form.count.value,
      totals: totals.map((field) => field.dataset.asset + ":" + field.value),
      credential_id: url(given.rawId),
      client_data_json: text(given.response.clientDataJSON),
      authenticator_data: text(given.response.authenticatorData),
      signature: text(given.response.signature),
    };
  };
  const create = async (signal) => {
    const made = await navigator.credentials.create({
      signal,
      publicKey: {
        challenge: bytes(form.dataset.challenge),
        rp: { id: form.dataset.rpId, name: "remit" },
        user: { id: bytes(form.dataset.user), name: form.dataset.person, displayName: form.dataset.person },
        pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
        authenticatorSelection: { userVerification: "required" },
        excludeCredentials: credentials,
        attestation: "none",
        timeout: 300000,
      },
    });
    return {
      id: made.id,
      rawId: url(made.rawId),
      type: made.type,
      response: { clientDataJSON: url(made.response.clientDataJSON), attestationObject: url(made.response.attestationObject) },
    };
  };
  const undone = isNew ? "No passkey was made" : "Nothing was approved";
  // A browser says little of why it got no answer, on purpose.
  const why = (error) => {
    if (error.name === "NotAllowedError" || error.name === "AbortError") return "The passkey was not confirmed. " + undone + "; try again.";
    if (error.name === "InvalidStateError") return "That authenticator has your passkey already. " + undone + ".";
    return undone + ": " + error.message;
  };
  const send = (answer) =>
    fetch("answer", { method: "POST", headers: { "Content-Type": "application/json" }, credentials: "omit", body: JSON.stringify(answer) }).catch(() => {
      throw new Error("remit does not serve this page any more. Look at its terminal: it ended, or took the answer of another tab.");
    });

  // The page says of the approvals what holds now, and no longer what held when it was opened.
  const update = (approvals) =>
    approvals.forEach((now, i) => {
      for (const text of document.querySelectorAll(`[data-approval="${i}"]`)) {
        text.textContent = now.ask;
        if (text.className) text.className = now.enough ? "good" : "doubt";
      }
      for (const list of document.querySelectorAll(`[data-signed="${i}"]`)) {
        list.replaceChildren(...(now.details ?? []).map((line) => Object.assign(document.createElement("li"), { textContent: line })));
      }
    });

  // While the passkey is asked for, the button keeps the focus: a button that is disabled would lose it.
  let asking = null;
  form.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && asking) asking.abort();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (asking) return;
    const foreign = totals.find((field) => isForeign(field.value));
    if (foreign) {
      say("Write the total of " + foreign.dataset.asset + " with a point before the decimals, and commas between thousands or none, such as 1234.50 or 1,234.50. " + undone + ".", "bad");
      correct(foreign);
      return;
    }
    asking = new AbortController();
    button.setAttribute("aria-disabled", "true");
    say("Confirm with your passkey.", "dim");
    try {
      const response = await send(await (isNew ? create : get)(asking.signal));
      const type = response.headers.get("Content-Type") ?? "";
      const told = type.startsWith("application/json") ? await response.json() : { error: await response.text() };
      if (told.said) {
        say(told.said + " You can close this page.", "good");
        if (!isNew) {
          document.getElementById("ask-title").textContent = "You approved this plan";
          document.getElementById("ask-intro").remove();
          update(told.now ?? []);
        }
        form.remove();
        said.tabIndex = -1;
        said.focus();
        return;
      }
      say(told.error, "bad");
      if (!isNew) focusOn(told.error);
    } catch (error) {
      say(why(error), "bad");
    }
    asking = null;
    button.removeAttribute("aria-disabled");
  });
})();
