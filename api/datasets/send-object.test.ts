import { expect, it } from 'vitest';
import { objectReply } from './send-object.ts';
import type { ServedObject } from './served-folder.ts';

const SIZE = 1000;
const made: ServedObject = {
  tag: 'tag',
  size: SIZE,
  changedAt: new Date(0),
  type: 'application/json',
  content: { make: () => Buffer.alloc(SIZE) },
};
const file: ServedObject = { ...made, content: { file: '/somewhere' } };
const request = { isHead: false, range: '', ifRange: '', ifNoneMatch: '' };

it.each([
  ['all of what is made', made, {}, { status: 200, cost: SIZE }],
  ['a part of what is made, which is made as a whole', made, { range: 'bytes=0-0' }, { status: 206, cost: SIZE }],
  ['its head', made, { isHead: true }, { status: 200, cost: 0 }],
  ['what the client has', made, { ifNoneMatch: '"tag"' }, { status: 304, cost: 0 }],
  ['what the client has of whatever tag', made, { ifNoneMatch: '*' }, { status: 304, cost: 0 }],
  ['a part that is not there', made, { range: 'bytes=1000-' }, { status: 416, cost: 0 }],
  ['all of a small file', file, {}, { status: 200, cost: 16_384 }],
  ['all of a larger one', { ...file, size: 20_000 }, {}, { status: 200, cost: 20_000 }],
  ['a part of a file', file, { range: 'bytes=10-19' }, { status: 206, cost: 16_384 }],
  ['the head of a file', file, { isHead: true }, { status: 200, cost: 0 }],
])('takes from the allowance for %s', (_, object, asked, expected) => {
  expect(objectReply(object, { ...request, ...asked })).toMatchObject(expected);
});
