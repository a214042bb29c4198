/** The identities that an identity referred, three levels deep, and its sub-identities. */
import { type Answer, At, blockColumn, Field, Fields, hrefOf, Panel, Table, usePointer, Value } from '../kit.ts';

interface ReferralsProps {
  readonly answer: Answer<'/api/identity/{nameOrId}/referrals'>;
  readonly chain: string;
}

export function Referrals({ answer, chain }: ReferralsProps) {
  return (
    <>
      <Panel title="Referrals" answer={answer} frame="medium">
        {({ levels, tree }) => (
          <>
            <Fields>
              <Field label="Referred" at="/total" as="integer" />
              {levels.map((_, index) => (
                <Field key={index} label={`At level ${index + 1}`}>
                  <Value at={`/levels/${index}`} as="integer" />
                </Field>
              ))}
            </Fields>
            {tree.length === 0 ? (
              <p class="empty">It has referred no one.</p>
            ) : (
              <Branch at="/tree" nodes={tree} chain={chain} />
            )}
          </>
        )}
      </Panel>
      <Panel title="Identities below it" answer={answer} frame="medium">
        {({ subIds }) => (
          <Table
            at="/subIds"
            rows={subIds}
            caption="Identities below this one, oldest first"
            empty="No identity is below it."
            columns={[
              {
                head: 'Name',
                at: 'name',
                as: 'name',
                href: ({ identityAddress }) => hrefOf('identity', { chain, name: identityAddress }),
              },
              { head: 'Address', at: 'identityAddress', as: 'id' },
              blockColumn('Registered in block', 'height', chain),
            ]}
          />
        )}
      </Panel>
    </>
  );
}

interface BranchProps {
  readonly at: string;
  readonly nodes: readonly unknown[];
  readonly chain: string;
}

/** The members of a tree node that this view uses. */
interface Node {
  readonly identityAddress: string;
  readonly children: readonly unknown[];
}

const isNode = (node: unknown): node is Node => typeof node === 'object' && node !== null && 'identityAddress' in node;

function Branch({ at, nodes, chain }: BranchProps) {
  const pointer = usePointer(at);
  return (
    <ul class="branch">
      {nodes.filter(isNode).map(({ identityAddress, children }, index) => (
        <At key={identityAddress} at={`${pointer}/${index}`}>
          <li data-item={`${pointer}/${index}`}>
            <Value at="name" as="name" href={hrefOf('identity', { chain, name: identityAddress })} />{' '}
            <Value at="identityAddress" as="id" />{' '}
            <span class="muted">
              block <Value at="height" as="integer" />, level <Value at="level" as="integer" />
            </span>
            {children.length > 0 && <Branch at="children" nodes={children} chain={chain} />}
          </li>
        </At>
      ))}
    </ul>
  );
}
