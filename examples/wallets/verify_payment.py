"""Checks whether an address was paid. Each run counts all outputs that only this address can spend, from the chain, so reorganisations need
no bookkeeping. Exit code 0: paid; 1: not yet paid, or an error that stderr explains.

    python3 examples/wallets/verify_payment.py SERVICE ADDRESS CURRENCY_ID AMOUNT SINCE_HEIGHT [CONFIRMATIONS]
"""
import re
import sys

from rpc import connect, read_arguments, to_coins, to_satoshis, whole_number

service, address, currency, amount, since, confirmations = read_arguments(
    'SERVICE', 'ADDRESS', 'CURRENCY_ID', 'AMOUNT', 'SINCE_HEIGHT', '[CONFIRMATIONS]'
)
rpc = connect(service)
asked = to_satoshis(amount)
if asked <= 0:
    raise SystemExit('AMOUNT must be above zero')
start = max(1, whole_number(since, 'SINCE_HEIGHT'))
enough = whole_number(confirmations or '10', 'CONFIRMATIONS')
if not re.fullmatch(r'i\w{33}', currency):
    raise SystemExit('CURRENCY_ID must be an i-address: names can be taken by others')


def value(delta):
    return to_satoshis(delta.get('currencyvalues', {}).get(currency, 0))


def is_own(delta):
    """Whether only the address can spend the output. Outputs that name several addresses are listed too, but others can take them back."""
    transaction = rpc('getrawtransaction', delta['txid'], 1)
    script = next((out['scriptPubKey'] for out in transaction['vout'] if out['n'] == delta['index']), {})
    is_alone = script.get('addresses') == [delta['address']]
    return transaction.get('height') == delta['height'] and script.get('spendableoutput') is True and is_alone


def count(tip):
    deltas = rpc('getaddressdeltas', {'addresses': [address], 'start': start, 'end': max(start, tip['blocks'])})
    paid = young = 0
    lines = []
    by_transaction = {}
    for delta in deltas:
        by_transaction.setdefault(delta['txid'], []).append(delta)
    for txid, moved in by_transaction.items():
        # Coins that the transaction takes from the address are subtracted, because change is not a payment.
        counted = sum(value(delta) for delta in moved if delta['spending'])
        for delta in moved:
            if delta['spending'] or value(delta) == 0:
                continue
            if is_own(delta):
                counted += value(delta)
            else:
                lines.append(f"{txid}:{delta['index']} is not counted: others can spend it too, or it has just moved")
        if counted <= 0:
            continue
        height = moved[0]['height']
        depth = tip['blocks'] - height + 1
        if depth >= enough:
            paid += counted
        else:
            young += counted
        lines.append(f'{txid} pays {to_coins(counted)} in block {height}, {depth} confirmations')
    return paid, young, lines


tip = rpc('getblockchaininfo')
paid, young, lines = count(tip)
# If the tip changed while counting, the count may mix two states of the chain.
while (again := rpc('getblockchaininfo'))['bestblockhash'] != tip['bestblockhash']:
    tip = again
    paid, young, lines = count(tip)
for line in lines:
    print(line)
waiting = f', {to_coins(young)} with fewer than {enough} confirmations' if young else ''
print(f"{'paid' if paid >= asked else 'not paid'}: {to_coins(paid)} of {to_coins(asked)}{waiting}")
sys.exit(0 if paid >= asked else 1)
