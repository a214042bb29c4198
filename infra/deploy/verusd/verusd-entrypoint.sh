#!/bin/sh
# verusd needs the parameters of its proofs once, which its own script fetches and checks.
set -eu
[ -f "$HOME/.zcash-params/sapling-spend.params" ] || /opt/verus/fetch-params
exec /opt/verus/verusd -printtoconsole "$@"
