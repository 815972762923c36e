"""Prepares the tracking server's databases before the server starts; safe to run again, also twice at once.

Waits for PostgreSQL, brings the tracking and the login schema to this release, and makes sure that the
configured users exist with the configured passwords (the server itself only creates the first
administrator, and never changes a password again). One session lock in the database keeps several
replicas apart. Deletes nothing and takes no user away.

Reads the same environment as the server, and ``TRACKING_USER`` / ``TRACKING_USER_PASSWORD``.
"""

import os
import sys
import time

import sqlalchemy
from mlflow.server.auth.config import read_auth_config
from mlflow.server.auth.sqlalchemy_store import SqlAlchemyStore
from mlflow.store.db import utils as tracking_db

WAIT_SECONDS = 150
RETRY_SECONDS = 2
# Any fixed number; it names this lock among the database's session locks.
LOCK_ID = 732_118_401


def say(text: str) -> None:
    """One line for the pod's log."""
    sys.stdout.write(f"prepare: {text}\n")
    sys.stdout.flush()


def wait_for(engine: sqlalchemy.Engine) -> None:
    """Return when the database answers; give up after ``WAIT_SECONDS``."""
    deadline = time.monotonic() + WAIT_SECONDS
    while True:
        try:
            with engine.connect() as connection:
                connection.execute(sqlalchemy.text("SELECT 1"))
        except sqlalchemy.exc.OperationalError as error:
            if time.monotonic() > deadline:
                raise SystemExit(f"prepare: no database after {WAIT_SECONDS} s: {error.orig}") from error
            time.sleep(RETRY_SECONDS)
        else:
            return


def upgrade_tracking(engine: sqlalchemy.Engine) -> None:
    """Create or upgrade the tracking schema."""
    if not tracking_db._all_tables_exist(engine):
        tracking_db._initialize_tables(engine)
        say("tracking schema created")
        return
    before = tracking_db._get_schema_version(engine)
    if before == tracking_db._get_latest_schema_revision():
        return
    tracking_db._upgrade_db(engine)
    say(f"tracking schema upgraded from {before}")


def ensure_user(store: SqlAlchemyStore, name: str, password: str, *, admin: bool) -> None:
    """The user exists, with this password and this right."""
    if not store.has_user(name, use_primary=True):
        store.create_user(name, password, is_admin=admin)
        say(f"user {name} created")
    elif not store.authenticate_user(name, password, use_primary=True):
        store.update_user(name, password=password, is_admin=admin)
        say(f"user {name}: password set")


def main() -> None:
    """Prepare both databases under the lock."""
    engine = sqlalchemy.create_engine(os.environ["MLFLOW_BACKEND_STORE_URI"])
    wait_for(engine)
    config = read_auth_config()
    if not config.admin_username or not config.admin_password:
        raise SystemExit("prepare: MLFLOW_AUTH_ADMIN_USERNAME and MLFLOW_AUTH_ADMIN_PASSWORD must be set")
    with engine.connect() as guard:
        guard.execute(sqlalchemy.text("SELECT pg_advisory_lock(:id)"), {"id": LOCK_ID})
        guard.commit()
        upgrade_tracking(engine)
        store = SqlAlchemyStore()
        store.init_db(config.database_uri)
        ensure_user(store, config.admin_username, config.admin_password, admin=True)
        ensure_user(store, os.environ["TRACKING_USER"], os.environ["TRACKING_USER_PASSWORD"], admin=False)
        guard.execute(sqlalchemy.text("SELECT pg_advisory_unlock(:id)"), {"id": LOCK_ID})
    say("ready")


if __name__ == "__main__":
    main()
