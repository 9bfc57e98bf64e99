// Judges a registration and an approval by passkey, both as a page of remit got them from a browser. Nothing of remit is
// used: the challenge is computed here from the plan's bytes. Standard input is JSON; the exit code is 0 where each holds,
// and where each copy with one byte changed is refused.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { verifyAuthenticationResponse, verifyRegistrationResponse } from "@simplewebauthn/server";

const given = JSON.parse(readFileSync(0, "utf8"));
const plan = Buffer.from(given.plan, "base64");
const approval = JSON.parse(given.approval);
const challengeOf = (bytes) => createHash("sha256").update("remit plan approval by passkey 1\n").update(bytes).digest("base64url");
const url = (base64) => Buffer.from(base64, "base64").toString("base64url");

const made = await verifyRegistrationResponse({
  response: { clientExtensionResults: {}, ...given.registration },
  expectedChallenge: given.challenge,
  expectedOrigin: given.origin,
  expectedRPID: "localhost",
  requireUserVerification: true,
  supportedAlgorithmIDs: [-7, -8, -257],
});
if (!made.verified) throw new Error("the registration does not hold");
const { credential } = made.registrationInfo;
if (credential.id !== approval.credential_id) throw new Error("the approval is by another credential");

const holds = async (bytes, fields, origin = given.origin, rpID = "localhost") => {
  const answer = await verifyAuthenticationResponse({
    response: {
      id: credential.id,
      rawId: credential.id,
      type: "public-key",
      clientExtensionResults: {},
      response: { clientDataJSON: url(fields.client_data_json), authenticatorData: url(fields.authenticator_data), signature: url(fields.signature) },
    },
    expectedChallenge: challengeOf(bytes),
    expectedOrigin: origin,
    expectedRPID: rpID,
    credential: { ...credential, counter: 0 },
    requireUserVerification: true,
  });
  return answer.verified;
};
if (!(await holds(plan, approval))) throw new Error("the approval does not hold");

const flipped = (bytes, at) => {
  const copy = Buffer.from(bytes);
  copy[at] ^= 1;
  return copy;
};
// Tags and lengths of an ECDSA signature are no part of what is signed: how strictly a reader takes them is its own affair. remit refuses
// each change of them (TestEachByteOfAnAssertionMatters in internal/approval).
const framing = (field, bytes) => (field === "signature" && given.algorithm === "ES256" ? [0, 1, 2, 3, 4 + bytes[3], 5 + bytes[3]] : []);
let refused = 0;
const refuse = async (what, ...given) => {
  if (await holds(...given).catch(() => false)) throw new Error(`with ${what} it holds`);
  refused++;
};
await refuse("another origin", plan, approval, "http://localhost:1");
await refuse("another RP ID", plan, approval, given.origin, "example.com");
for (const at of [0, plan.length >> 1, plan.length - 1]) await refuse(`byte ${at} of the plan changed`, flipped(plan, at), approval);
for (const field of ["client_data_json", "authenticator_data", "signature"]) {
  const bytes = Buffer.from(approval[field], "base64");
  for (let at = 0; at < bytes.length; at++) {
    if (framing(field, bytes).includes(at)) continue;
    await refuse(`byte ${at} of ${field} changed`, plan, { ...approval, [field]: flipped(bytes, at).toString("base64") });
  }
}
console.log(`holds: algorithm ${given.algorithm}, and ${refused} changed copies are refused`);
