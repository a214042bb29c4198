/** Generates the client's types from the schemas of the push stream. */
import { subscribeMessage } from '../../api/push/client-message-schema.ts';
import { pushEvents, pushNotices } from '../../api/push/message-schema.ts';
import { typeOf } from './types-of.ts';

const nameOf = (type: string, kind: string) =>
  `${type.replace(/(?:^|_)([a-z])/g, (_, letter: string) => letter.toUpperCase())}${kind}`;

export function typesOfMessages(): string {
  const declare = (name: string, summary: string, type: string) => `/** ${summary} */\nexport type ${name} = ${type};`;
  const events = Object.entries(pushEvents).map(([type, { summary, message }]) =>
    declare(nameOf(type, 'Event'), summary, typeOf(message)),
  );
  const notices = Object.entries(pushNotices).map(([type, { summary, message }]) =>
    declare(nameOf(type, 'Notice'), summary, typeOf(message)),
  );
  const union = (types: object, kind: string) =>
    Object.keys(types)
      .map((type) => nameOf(type, kind))
      .join(' | ');
  return `// Made by client/build/build.ts from api/push/message-schema.ts.
${[...events, ...notices, declare('SubscribeMessage', 'What a client asks for', typeOf(subscribeMessage))].join('\n')}
export type ChainEvent = ${union(pushEvents, 'Event')};
export type ServerMessage = ChainEvent | ${union(pushNotices, 'Notice')};
`;
}
