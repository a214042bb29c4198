/** The report of an audit, as the table `audits` stores it. */
import { AUDIT_STATES, type AuditReport } from '../../schemas/audit-report.ts';
import { columns, jsonReader, type ReadColumn } from '../row-reader.ts';

const { boolean, choice, nullable, number, object, text } = columns;

const FOUND = { height: number, foundAt: text, lasts: boolean };

/** Reports of older versions lack `conversionsWithoutStamp`. */
export type StoredReport = Omit<AuditReport, 'conversionsWithoutStamp'> &
  Partial<Pick<AuditReport, 'conversionsWithoutStamp'>>;

const REPORT: ReadColumn<StoredReport> = object(
  {
    state: choice(AUDIT_STATES),
    checkedHeight: nullable(number),
    stampsCheckedHeight: nullable(number),
    digest: nullable(text),
    checkedAt: text,
    lastMismatch: nullable(object({ ...FOUND, table: text })),
    lastViolation: nullable(
      object({ ...FOUND, invariant: text, currencyId: text, reserveId: nullable(text), excess: text }),
    ),
  },
  { conversionsWithoutStamp: nullable(number) },
);
export const readAuditReport = jsonReader(REPORT);
