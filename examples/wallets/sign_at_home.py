"""Takes an unsigned identity update that a service built, checks it against your own daemon, funds and signs it there, and broadcasts it.
Nothing that the service returns is trusted: the signature covers the whole transaction."""
from identity_output import stored_multimap
from rpc import print_json, to_satoshis

SOON = 3  # the daemon refuses a transaction that expires within this many blocks
# The delay of a lock counts from the expiry height, so a service could postpone it with a transaction that expires much later.
LONGEST_LIFE = 100


def check(wallet, name, unsigned, changes, check_map, replaces=None):
    """changes(identity, transaction): members that change, with identities as i-addresses; all others must stay. replaces: the output that
    the map was merged from. Exits with a message that names the difference."""
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
        # check_map compares the map byte by byte; the first update after an upgrade of the chain raises the version.
        if member not in ('contentmultimap', 'version') and made.get(member) != expected.get(member):
            raise SystemExit(f'{member} would be {print_json(made.get(member))}, not {print_json(expected.get(member))}')
    check_map(stored_multimap(outputs[0]['scriptPubKey']['hex']))
    return transaction


def sign_and_send(service, wallet, unsigned, most_fee):
    """Returns the txid. most_fee is in coins."""
    # The service has no coins to spend, so the transaction pays no fee until it is funded here.
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
