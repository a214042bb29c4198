/** SQL that gives the service its own role without superuser rights, and ownership of its databases and their objects. */

/** The role of the service. In older clusters it was the superuser. */
export const SERVICE_ROLE = 'verustream';
/** The connection rules admit no login as this role. */
export const SUPERUSER = 'postgres';

/** OID of the role that initdb created. */
const BOOTSTRAP_OID = 10;
/** Objects with smaller OIDs belong to Postgres itself. */
const FIRST_NORMAL_OID = 16_384;

/** Run in database `postgres`. Idempotent. */
export function rolesSql(password: string): string {
  return `
UPDATE pg_authid SET rolname = '${SUPERUSER}' WHERE oid = ${BOOTSTRAP_OID};
DO $$ BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = '${SERVICE_ROLE}') THEN CREATE ROLE ${SERVICE_ROLE}; END IF;
END $$;
ALTER ROLE ${SERVICE_ROLE} LOGIN CREATEDB NOSUPERUSER NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD '${password}';
SELECT 'database=' || encode(convert_to(datname, 'UTF8'), 'hex') AS found FROM pg_database WHERE datallowconn;`;
}

export function printedDatabases(output: string): string[] {
  return Array.from(output.matchAll(/"database=([0-9a-f]*)"/g), ([, hex = '']) => Buffer.from(hex, 'hex').toString());
}

/** Run in each database: makes the service owner of the superuser's objects, and of the database unless it is Postgres' own. Idempotent. */
export const OWNERSHIP_SQL = `
DO $$
DECLARE statement text;
BEGIN
  FOR statement IN
    WITH schemas AS (
      SELECT oid, nspname, nspowner FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema'
    )
    SELECT format('DATABASE %I', datname) FROM pg_database
      WHERE datname = current_database() AND datname NOT IN ('postgres', 'template0', 'template1')
    UNION ALL
    SELECT format('SCHEMA %I', nspname) FROM schemas WHERE nspowner = ${BOOTSTRAP_OID} AND oid >= ${FIRST_NORMAL_OID}
    UNION ALL
    SELECT format('%s %s',
        CASE relkind WHEN 'v' THEN 'VIEW' WHEN 'm' THEN 'MATERIALIZED VIEW' WHEN 'S' THEN 'SEQUENCE' ELSE 'TABLE' END,
        c.oid::regclass)
      FROM pg_class c JOIN schemas s ON s.oid = relnamespace
      WHERE relowner = ${BOOTSTRAP_OID} AND c.oid >= ${FIRST_NORMAL_OID} AND relkind IN ('r', 'p', 'v', 'm', 'S')
        -- A sequence of a column changes its owner with its table.
        AND NOT EXISTS (SELECT FROM pg_depend WHERE classid = 'pg_class'::regclass AND objid = c.oid AND relkind = 'S' AND deptype IN ('a', 'i'))
    UNION ALL
    SELECT format('ROUTINE %s', p.oid::regprocedure) FROM pg_proc p JOIN schemas s ON s.oid = pronamespace
      WHERE proowner = ${BOOTSTRAP_OID} AND p.oid >= ${FIRST_NORMAL_OID}
    UNION ALL
    SELECT format('TYPE %s', t.oid::regtype) FROM pg_type t JOIN schemas s ON s.oid = typnamespace
      WHERE typowner = ${BOOTSTRAP_OID} AND t.oid >= ${FIRST_NORMAL_OID} AND (typtype IN ('d', 'e', 'r')
        OR typtype = 'c' AND EXISTS (SELECT FROM pg_class WHERE oid = typrelid AND relkind = 'c'))
  LOOP
    EXECUTE format('ALTER %s OWNER TO ${SERVICE_ROLE}', statement);
  END LOOP;
END $$;`;
