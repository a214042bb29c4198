"""Manages an account with nothing but Python's standard library: logs an identity in, makes a key, reads its usage and its
remaining credits, registers a webhook, sends it a test message, and redelivers failed messages.

    python3 examples/account.py http://127.0.0.1:8080 alice@ https://bot.example/hooks

It prints the command for a wallet with the identity's keys, and reads the signature from its input. Webhooks need the tier pro.
"""
import json
import sys
import time
import urllib.error
import urllib.request

if len(sys.argv) != 4:
    print('usage: python3 examples/account.py <service> <identity> <address of the receiver>', file=sys.stderr)
    sys.exit(2)
base_url, identity, url = sys.argv[1:]


def say(text):
    print(text, flush=True)


def read_line(question):
    say(question)
    return sys.stdin.readline().strip()


def ask(method, path, token=None, body=None):
    """Returns the answer of the service; a refusal ends the program with its reason."""
    request = urllib.request.Request(base_url + path, method=method, data=None if body is None else json.dumps(body).encode())
    if token:
        request.add_unredirected_header('Authorization', 'Bearer ' + token)  # not sent to another host after a redirect
    try:
        with urllib.request.urlopen(request) as answer:
            text = answer.read()
    except urllib.error.HTTPError as refused:
        problem = json.loads(refused.read())
        sys.exit(f"{problem['code']}: {problem.get('detail', '')}")
    return json.loads(text) if text else None


def log_in():
    challenge = ask('POST', '/api/auth/challenge', body={'identity': identity})
    signature = read_line(f"sign: {challenge['command']}")
    login = ask('POST', '/api/auth/login', body={'challengeId': challenge['challengeId'], 'signature': signature})
    say(f"logged in until {login['expiresAt']}")
    return login['token']


# The session does not spend the identity's credits here, so a key that uses all of them does not lock out its owner.
session = log_in()

made = ask('POST', '/api/keys', session, {'name': 'bot'})
key = made['key']
say(f"key {made['id']} is shown once: {key}")
ask('GET', '/api/market/protocol', key)

now = ask('GET', '/api/usage/now', session)
say(f"left now: {now['remaining']} of {now['creditsPerMinute']} credits, tier {now['tier']}")
time.sleep(now['writtenWithinSeconds'])  # counts are written every second
for row in ask('GET', f"/api/usage?step=day&key={made['id']}", session)['results']:
    say(f"used since {row['at']}: {row['requests']} requests, {row['credits']} credits, {row['refused']} refused")

hook = ask('POST', '/api/webhooks', key, {'url': url, 'events': ['block', 'reorg']})
say(f"webhook {hook['id']}; its secret is shown once: {hook['secret']}")
of_hook = f"/api/webhooks/{hook['id']}"
test = ask('POST', of_hook + '/test', key)


def outcome(delivery_id, after):
    """Waits until the delivery was attempted more than `after` times, or reached a final state."""
    while True:
        delivery = ask('GET', f'{of_hook}/deliveries/{delivery_id}', key)
        if delivery['state'] == 'delivered':
            say(f"delivered: {delivery['status']} in {delivery['latencyMs']} ms")
            return True
        if delivery['state'] == 'failed' or delivery['attempts'] > after:
            said = 'nothing' if delivery['answer'] is None else delivery['answer']
            say(f"not delivered: {delivery['error']}; the receiver said: {said}")
            return False
        time.sleep(0.2)


delivered = outcome(test['id'], 0)
while not delivered:
    read_line('repair the receiver, then press Enter')
    # Redelivers all failed messages, and the test message even while it waits for its next attempt.
    redriven = ask('POST', of_hook + '/redrive', key)['redriven']
    again = ask('POST', f"{of_hook}/deliveries/{test['id']}/redrive", key)
    say(f'sent again: {redriven} failed deliveries and the test')
    delivered = outcome(test['id'], again['attempts'])
ask('POST', '/api/auth/logout', session)
