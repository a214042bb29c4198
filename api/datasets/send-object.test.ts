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
  ['a whole manifest', made, {}, { status: 200, cost: SIZE }],
  ['a part of a manifest, which is made in full', made, { range: 'bytes=0-0' }, { status: 206, cost: SIZE }],
  ['the head of a manifest', made, { isHead: true }, { status: 200, cost: 0 }],
  ['an object that the client has', made, { ifNoneMatch: '"tag"' }, { status: 304, cost: 0 }],
  ['an object that the client has with any tag', made, { ifNoneMatch: '*' }, { status: 304, cost: 0 }],
  ['a part beyond the end', made, { range: 'bytes=1000-' }, { status: 416, cost: 0 }],
  ['a whole small file', file, {}, { status: 200, cost: 16_384 }],
  ['a whole larger file', { ...file, size: 20_000 }, {}, { status: 200, cost: 20_000 }],
  ['a part of a file', file, { range: 'bytes=10-19' }, { status: 206, cost: 16_384 }],
  ['the head of a file', file, { isHead: true }, { status: 200, cost: 0 }],
])('cost of %s', (_, object, asked, expected) => {
  expect(objectReply(object, { ...request, ...asked })).toMatchObject(expected);
});
