"""Updates an identity without giving its keys to the service: the service builds the transaction, your own daemon checks, funds and signs it,
and the service broadcasts it. REQUEST is the parameter of updateidentity, with identities as i-addresses. `replaces`, which
merge_multimap.py adds, names the output that must still be the newest; without it, the update overwrites one that others sent meanwhile.

    WALLET_URL=http://user:password@127.0.0.1:27486 python3 examples/wallets/update_identity.py SERVICE NAME@ REQUEST

MOST_FEE: in coins, 0.01
"""
import os

from rpc import connect, read_arguments, read_json, wallet_url
from sign_at_home import check, sign_and_send

address, name, request = read_arguments('SERVICE', 'NAME@', 'REQUEST')
service = connect(address)
wallet = connect(wallet_url())
request = read_json(request)
replaces = request.pop('replaces', None)
wanted = request.get('contentmultimap', {})
changes = {member: value for member, value in request.items() if member != 'contentmultimap'}

if not all(isinstance(values, list) for values in wanted.values()):
    raise SystemExit('each key must have a list of values')
if any(isinstance(value, dict) and 'data' in value for values in wanted.values() for value in values):
    raise SystemExit('data is encrypted by the daemon that builds the transaction: that must be your own')


def check_map(stored):
    """The daemon chooses the bytes of a value given as an object; values given as hex are compared."""
    if stored.keys() != wanted.keys():
        raise SystemExit(f"the keys would be {', '.join(stored) or 'none'}")
    for key, values in wanted.items():
        made = stored[key]
        as_asked = all(value.lower() == stored_value for value, stored_value in zip(values, made) if isinstance(value, str))
        if not as_asked or len(made) != len(values):
            raise SystemExit(f"the values of {key} would be {', '.join(made)}")


unsigned = service('updateidentity', request, True)
check(wallet, name, unsigned, lambda _known, _transaction: changes, check_map, replaces)
print('sent', sign_and_send(service, wallet, unsigned, os.environ.get('MOST_FEE', '0.01')))
