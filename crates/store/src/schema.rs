//! The tables, and how a store comes from one version of them to the next.

use super::error::Fault;
use rusqlite::{Connection, TransactionBehavior};

/// "Weir" in ASCII, in the header of the file (SQLite's `application_id`), by which `file` and this
/// program know it.
pub(super) const APPLICATION: i64 = 0x5765_6972;

/// The steps from an empty database to the newest schema. Step n makes version n+1 of version n. A
/// step that was ever released is never changed; a change of the schema is a new step.
pub(super) const STEPS: &[&str] = &[include_str!("schema_1.sql"), include_str!("schema_2.sql")];

/// Looks at the header of the database.
fn header(connection: &Connection) -> rusqlite::Result<(i64, i64, bool)> {
    let pragma = |name| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let empty =
        connection.query_row("SELECT count(*) = 0 FROM sqlite_master", [], |row| row.get(0))?;
    Ok((pragma("application_id")?, pragma("user_version")?, empty))
}

/// The version of the schema; 0 for an empty database.
///
/// # Errors
/// When the database is not a store, or of a newer version than `known`.
fn version(connection: &Connection, known: i64) -> Result<i64, Fault> {
    match header(connection)? {
        (0, 0, true) => Ok(0),
        (APPLICATION, found, _) if found > known => Err(Fault::Newer { found, known }),
        (APPLICATION, found, false) if found > 0 => Ok(found),
        (APPLICATION, ..) => Err(Fault::Damaged("its header and its tables disagree".into())),
        _ => Err(Fault::Foreign),
    }
}

/// Brings the schema up to the newest version, all or nothing. An empty database becomes a store if
/// `create`.
pub(super) fn bring_up(
    connection: &mut Connection,
    steps: &[&str],
    create: bool,
) -> Result<(), Fault> {
    let known = i64::try_from(steps.len()).unwrap_or(i64::MAX);
    let found = version(connection, known)?;
    if found == 0 && !create {
        return Err(Fault::Foreign);
    }
    if found == known {
        return Ok(());
    }
    // Looked at again once nobody else can write: two processes may make the same store.
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let found = version(&transaction, known)?;
    for step in &steps[usize::try_from(found).unwrap_or(0)..] {
        transaction.execute_batch(step)?;
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
    fn an_old_store_is_brought_up_step_by_step_and_keeps_its_rows() {
        let mut database = Connection::open_in_memory().unwrap();
        bring_up(&mut database, &[FIRST], true).unwrap();
        bring_up(&mut database, &[FIRST, SECOND], false).unwrap();
        let row = |row: &rusqlite::Row<'_>| Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?));
        assert_eq!(database.query_row("SELECT x, y FROM a", [], row).unwrap(), (7, 8));
        assert_eq!(
            bring_up(&mut database, &[FIRST], false),
            Err(Fault::Newer { found: 2, known: 1 })
        );
    }

    #[test]
    fn a_step_that_fails_leaves_the_store_as_it_was() {
        let mut database = Connection::open_in_memory().unwrap();
        bring_up(&mut database, &[FIRST], true).unwrap();
        assert!(
            bring_up(&mut database, &[FIRST, "ALTER TABLE a ADD COLUMN z; nonsense;"], false)
                .is_err()
        );
        assert_eq!(version(&database, 1), Ok(1));
        assert!(database.prepare("SELECT z FROM a").is_err());
    }

    #[test]
    fn an_empty_database_becomes_a_store_only_when_asked_and_a_foreign_one_never() {
        let mut database = Connection::open_in_memory().unwrap();
        assert_eq!(bring_up(&mut database, STEPS, false), Err(Fault::Foreign));
        database.execute_batch("CREATE TABLE mine (x)").unwrap();
        assert_eq!(bring_up(&mut database, STEPS, true), Err(Fault::Foreign));
    }
}
