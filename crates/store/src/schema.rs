//! The tables, and the migration of a store from one version of the schema to the next.

use super::error::{Damage, Fault};
use rusqlite::{Connection, TransactionBehavior};

/// "Weir" in ASCII: SQLite's `application_id` in the header of the file, by which the program
/// `file` and Weir recognise a store.
pub(super) const APPLICATION: i64 = 0x5765_6972;

/// The migrations from an empty database to the newest schema. Migration n, from 0, upgrades
/// version n to version n + 1. A released migration is never changed; each change of the schema is
/// a new migration.
pub(super) const MIGRATIONS: &[&str] = &[
    include_str!("schema_1.sql"),
    include_str!("schema_2.sql"),
    include_str!("schema_3.sql"),
    include_str!("schema_4.sql"),
];

/// The application id and the schema version in the header, and whether there are no tables.
fn header(connection: &Connection) -> rusqlite::Result<(i64, i64, bool)> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let empty =
        connection.query_row("SELECT count(*) = 0 FROM sqlite_master", [], |row| row.get(0))?;
    Ok((pragma("application_id")?, pragma("user_version")?, empty))
}

/// The version of the schema; 0 for an empty database.
///
/// # Errors
/// If the database is not a store, or is of a newer version than `known`.
fn version(connection: &Connection, known: i64) -> Result<i64, Fault> {
    match header(connection)? {
        (0, 0, true) => Ok(0),
        (APPLICATION, found, _) if found > known => Err(Fault::Newer { found, known }),
        (APPLICATION, found, false) if found > 0 => Ok(found),
        (APPLICATION, ..) => Err(Damage::Header.into()),
        _ => Err(Fault::Foreign),
    }
}

/// Upgrades the schema to the newest version in one transaction. With `create`, an empty database
/// becomes a store.
///
/// # Errors
/// If the database is not a store, is newer than this program, or cannot be written.
pub(super) fn migrate(
    connection: &mut Connection,
    migrations: &[&str],
    create: bool,
) -> Result<(), Fault> {
    let known = i64::try_from(migrations.len()).unwrap_or(i64::MAX);
    let found = version(connection, known)?;
    if found == 0 && !create {
        return Err(Fault::Foreign);
    }
    if found == known {
        return Ok(());
    }
    // Read again under the lock, because another process may have created or upgraded the store.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction, known)?;
    for migration in &migrations[usize::try_from(found).unwrap_or(0)..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION)?;
    transaction.pragma_update(None, "user_version", known)?;
    Ok(transaction.commit()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: &str = "CREATE TABLE a (x); INSERT INTO a VALUES (7);";
    const SECOND: &str = "ALTER TABLE a ADD COLUMN y DEFAULT 8;";

    #[test]
    fn an_old_store_is_migrated_and_keeps_its_rows() {
        let mut database = Connection::open_in_memory().unwrap();
        migrate(&mut database, &[FIRST], true).unwrap();
        migrate(&mut database, &[FIRST, SECOND], false).unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        assert_eq!(database.query_row("SELECT x, y FROM a", [], row).unwrap(), (7, 8));
        assert_eq!(
            migrate(&mut database, &[FIRST], false),
            Err(Fault::Newer { found: 2, known: 1 })
        );
    }

    #[test]
    fn a_failed_migration_leaves_the_store_unchanged() {
        let mut database = Connection::open_in_memory().unwrap();
        migrate(&mut database, &[FIRST], true).unwrap();
        assert!(
            migrate(&mut database, &[FIRST, "ALTER TABLE a ADD COLUMN z; nonsense;"], false)
                .is_err()
        );
        assert_eq!(version(&database, 1), Ok(1));
        assert!(database.prepare("SELECT z FROM a").is_err());
    }

    #[test]
    fn only_an_empty_database_becomes_a_store_and_only_with_create() {
        let mut database = Connection::open_in_memory().unwrap();
        assert_eq!(migrate(&mut database, MIGRATIONS, false), Err(Fault::Foreign));
        database.execute_batch("CREATE TABLE mine (x)").unwrap();
        assert_eq!(migrate(&mut database, MIGRATIONS, true), Err(Fault::Foreign));
    }
}
