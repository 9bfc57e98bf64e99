#!/bin/sh
# One payment run from start to end, without a CI: the author makes a plan, two people approve
# it, somebody with the credentials sends it and keeps the evidence. In life each of the four
# steps is on the machine of whoever takes it; the plan and its signatures are files to hand on.
#
#   pay.sh plan    PLAN AUTHOR_KEY
#   pay.sh approve PLAN APPROVER_KEY COUNT ASSET:TOTAL
#   pay.sh apply   PLAN
#   pay.sh export  DIR [ALLOWED_SIGNERS]
set -eu

case ${1-} in
plan)
  remit plan --out="$2" --sign="$3"
  ;;
approve) # read it first: remit show PLAN
  remit approve "$2" --key="$3" --count="$4" --total="$5"
  ;;
apply) # needs REMIT_CLIENT_ID and REMIT_CLIENT_SECRET
  remit apply "$2" --declared --lock-timeout=5m
  ;;
export)
  remit audit export --run=latest --out="$2"
  remit audit verify "$2" --manifest="$(sha256sum "$2/SHA256SUMS" | cut -c 1-64)" ${3:+--allowed-signers="$3"}
  (cd "$2" && sha256sum --check --strict --quiet SHA256SUMS)
  ;;
*)
  sed -n '6,9s/^# *//p' "$0" >&2
  exit 64
  ;;
esac
