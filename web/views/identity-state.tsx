/** The state of an identity at a height: its holders, the authorities that may revoke and recover it, and its lock. */
import {
  type Answer,
  type AnswerOf,
  At,
  Currency,
  Field,
  Fields,
  hrefOf,
  NameOf,
  Panel,
  Party,
  shownSpan,
  spanOfBlocks,
  useLeaf,
  usePointer,
  Value,
} from '../kit.ts';

type Identity = AnswerOf<'/api/identity/{nameOrId}'>;

interface StateProps {
  readonly answer: Answer<'/api/identity/{nameOrId}'>;
  readonly chain: string;
}

export function State({ answer, chain }: StateProps) {
  return (
    <>
      <Panel title="State" answer={answer} frame="medium">
        {(identity) => (
          <>
            <Lock identity={identity} chain={chain} />
            <Fields>
              <Field label="Name" at="/friendlyName" as="name" />
              <Field label="Address">
                <Value
                  at="/identityaddress"
                  as="id"
                  href={hrefOf('address', { chain, addr: identity.identityaddress })}
                />
              </Field>
              <Field label="Qualified name" at="/fullyQualifiedName" as="name" />
              <Field label="Parent">
                <Currency chain={chain} name="/parentName" id="/parent" />
              </Field>
              <Field label="Updated in block">
                <Value
                  at="/lastUpdate/height"
                  as="integer"
                  href={hrefOf('block', { chain, block: identity.lastUpdate.height })}
                />
              </Field>
              <Field label="Updated at" at="/lastUpdate/time" as="time" />
              <Field label="Updated by">
                <Value at="/lastUpdate/txid" as="id" href={hrefOf('tx', { chain, txid: identity.lastUpdate.txid })} />
              </Field>
              <Field label="Currency of this name" at="/isCurrency" />
              <Field label="Held by its token" help="The holder of its only token may revoke and recover it">
                <Value at="/isTokenControlled" />
              </Field>
              <Field label="Identities below it" at="/subIdCount" as="integer" />
              <Field label="Flags" at="/flags" as="integer" />
              <Field label="Timelock" at="/timelock" as="integer" />
            </Fields>
          </>
        )}
      </Panel>
      <div class="halves">
        <Panel title="Who holds it" answer={answer} frame="medium">
          {(identity) => <Holders identity={identity} chain={chain} />}
        </Panel>
        <Panel title="Registered" answer={answer} frame="medium">
          {(identity) => <Registration identity={identity} chain={chain} />}
        </Panel>
      </div>
    </>
  );
}

const STATUS_SAYS: Readonly<Record<Identity['status'], string>> = {
  unlocked: 'Its keys may spend and change it.',
  locked: 'Nothing can be spent until an unlock was requested and its delay has passed.',
  unlocking: 'An unlock was requested; nothing can be spent until its delay has passed.',
  revoked: 'Revoked: only its recovery authority can bring it back.',
};

function Lock({ identity, chain }: { readonly identity: Identity; readonly chain: string }) {
  const { status, blocksToUnlock, unlockHeight } = identity;
  return (
    <div class={`lock ${status}`} data-testid="lock">
      <strong>
        <Value at="/status" as="word" />
      </strong>
      <span>{STATUS_SAYS[status]}</span>
      <span class="lock-figure">
        <span class="muted">{status === 'locked' ? 'Waits after an unlock' : 'Blocks left'}</span>{' '}
        <Value at="/blocksToUnlock" as="integer" unit="blocks" why="it is not locked" />
        {blocksToUnlock !== null && (
          <span class="muted" data-derived="wait">
            {' '}
            ≈ {shownSpan(spanOfBlocks(chain, Number(blocksToUnlock)))}
          </span>
        )}
      </span>
      <span class="lock-figure">
        <span class="muted">Locked up to block</span>{' '}
        <Value at="/unlockHeight" as="integer" why={unlockHeight === null ? 'no unlock is under way' : undefined} />
      </span>
    </div>
  );
}

function Holders({ identity, chain }: { readonly identity: Identity; readonly chain: string }) {
  const { identityaddress, revocationauthority, recoveryauthority, primaryaddresses } = identity;
  return (
    <>
      <Fields>
        <Field label="Signatures needed" at="/minimumsignatures" as="integer" />
        {primaryaddresses.map((address, index) => (
          <Field
            key={address}
            label={primaryaddresses.length === 1 ? 'Primary address' : `Primary address ${index + 1}`}
          >
            <Party at={`/primaryaddresses/${index}`} chain={chain} />
          </Field>
        ))}
        <Field label="May revoke it">
          <Authority at="/revocationauthority" chain={chain} self={identityaddress} />
        </Field>
        <Field label="May recover it">
          <Authority at="/recoveryauthority" chain={chain} self={identityaddress} />
        </Field>
        {identity.privateaddress !== undefined && <Field label="Private address" at="/privateaddress" as="id" />}
      </Fields>
      {revocationauthority === identityaddress && (
        <p class="warning">It may revoke itself: only the holder of its keys can revoke it.</p>
      )}
      {recoveryauthority === identityaddress && (
        <p class="warning">
          It is its own recovery authority: once its keys are lost or it is revoked, no one can recover it.
        </p>
      )}
    </>
  );
}

interface AuthorityProps {
  readonly at: string;
  readonly chain: string;
  readonly self: string;
}

function Authority({ at, chain, self }: AuthorityProps) {
  const leaf = useLeaf(usePointer(at));
  if (leaf.kind !== 'string') return <Value at={at} />;
  return (
    <>
      <Value at={at} as="id" href={hrefOf('identity', { chain, name: leaf.text })} />{' '}
      {leaf.text !== self && <NameOf id={leaf.text} />}
      {leaf.text === self && <span class="badge warn">itself</span>}
    </>
  );
}

function Registration({ identity, chain }: { readonly identity: Identity; readonly chain: string }) {
  const { height, txid, commitmentTxid, referral, cost } = identity.registration;
  return (
    <At at="/registration">
      <Fields>
        <Field label="Block" at="height" as="integer" href={hrefOf('block', { chain, block: height })} />
        <Field label="Time" at="time" as="time" />
        <Field label="Transaction" at="txid" as="id" href={hrefOf('tx', { chain, txid })} />
        <Field label="Name commitment">
          <Value
            at="commitmentTxid"
            as="id"
            why="it was made without a reservation"
            href={commitmentTxid && hrefOf('tx', { chain, txid: commitmentTxid })}
          />
        </Field>
        <Field label="Referred by">
          {referral !== null && (
            <>
              <Value
                at="referralName"
                as="name"
                why="not known here"
                href={hrefOf('identity', { chain, name: referral })}
              />{' '}
            </>
          )}
          <Value
            at="referral"
            as="id"
            why="no identity"
            href={referral && hrefOf('identity', { chain, name: referral })}
          />
        </Field>
        {cost.length === 0 && (
          <Field label="Cost">
            <span class="none">– none is known</span>
          </Field>
        )}
        {cost.map(({ currencyId }, index) => (
          <Field key={currencyId} label="Cost">
            <Value at={`cost/${index}/amount`} as="amount" />{' '}
            <Currency chain={chain} name={`cost/${index}/currencyName`} id={`cost/${index}/currencyId`} />
          </Field>
        ))}
      </Fields>
    </At>
  );
}
