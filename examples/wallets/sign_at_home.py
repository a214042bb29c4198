"""An unsigned update of an identity, as a service returned it: checked against what your own daemon knows, funded and signed there,
and broadcast. Nothing that a service says is taken on trust: the signature covers the whole transaction."""
from identity_output import stored_multimap
from rpc import print_json, to_satoshis

SOON = 3  # the daemon refuses a transaction that expires within so many blocks
# One that may be mined much later is not yours to time: the delay of a lock counts from there.
LONGEST_LIFE = 100


def check(wallet, name, unsigned, changes, check_map, replaces=None):
    """changes(identity, transaction): members that change, identities by i-address; all others must stay. replaces: the output that
    the map was merged from. Exits saying what is wrong."""
    transaction = wallet('decoderawtransaction', unsigned)
    known = wallet('getidentity', name, -1)
    blocks = wallet('getblockchaininfo')['blocks']
    spends = [(source.get('txid'), source.get('vout')) for source in transaction['vin']]
    if spends != [(known['txid'], known['vout'])]:
        raise SystemExit(f"it must spend the identity's output {known['txid']}:{known['vout']} and nothing else: is your daemon synchronised?")
    if replaces and spends != [(replaces['txid'], replaces['vout'])]:
        raise SystemExit(f"the identity was updated after {replaces['txid']}:{replaces['vout']} was merged: merge again")
    outputs = transaction['vout']
    if len(outputs) != 1 or 'identityprimary' not in outputs[0]['scriptPubKey'] or outputs[0]['valueSat'] != 0:
        raise SystemExit('it must have one output, the identity, without coins')
    if transaction['locktime'] != 0:
        raise SystemExit('it must not be locked until later')
    if transaction['expiryheight'] <= blocks + SOON:
        raise SystemExit(f"it expires at block {transaction['expiryheight']}, the chain has {blocks}: ask for a new one")
    if transaction['expiryheight'] > blocks + LONGEST_LIFE:
        raise SystemExit(f"it must expire by block {blocks + LONGEST_LIFE}, not at {transaction['expiryheight']}")

    made = outputs[0]['scriptPubKey']['identityprimary']
    expected = {**known['identity'], **changes(known['identity'], transaction)}
    for member in {**expected, **made}:
        # The map is compared by its bytes; the version is raised by the first update after an upgrade of the chain.
        if member not in ('contentmultimap', 'version') and made.get(member) != expected.get(member):
            raise SystemExit(f'{member} would be {print_json(made.get(member))}, not {print_json(expected.get(member))}')
    check_map(stored_multimap(outputs[0]['scriptPubKey']['hex']))
    return transaction


def sign_and_send(service, wallet, unsigned, most_fee):
    """Returns the txid. most_fee in coins."""
    # The service has no coins: without this the transaction would pay no fee.
    funded = wallet('fundrawtransaction', unsigned)
    if to_satoshis(funded['fee']) > to_satoshis(most_fee):
        raise SystemExit(f"the fee would be {funded['fee']}, more than {most_fee}")
    signed = wallet('signrawtransaction', funded['hex'])
    if not signed['complete']:
        raise SystemExit(f"more signatures are needed ({print_json(signed.get('errors'))}): pass this on, then send it\n{signed['hex']}")
    txid = wallet('decoderawtransaction', signed['hex'])['txid']
    sent = service('sendrawtransaction', signed['hex'])
    if sent != txid:
        raise SystemExit(f'the service says it sent {sent}, not {txid}: look it up at home')
    return txid
