"""PostgreSQL by its own tools, inside its pod: the superuser's password never leaves the container."""

import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from lab.errors import LabError
from lab.process import ends_with_parent

# Only what MLflow's users made counts: its own first rows are there in every fresh database.
_RECORDS = "SELECT CASE WHEN to_regclass('public.runs') IS NULL THEN 0 ELSE 1 END"
_RUNS = "SELECT (SELECT count(*) FROM runs) + (SELECT count(*) FROM registered_models)"
_NAMES = (
    "SELECT datname || ' ' || pg_get_userbyid(datdba) FROM pg_database WHERE NOT datistemplate "
    "AND datname <> 'postgres' AND datname !~ '_(restoring|replaced)$' ORDER BY datname"
)
# The container's environment has the login; by address, as the server's own probe does.
_LOGIN = 'tool=$1; shift; exec "$tool" --host=127.0.0.1 --username="$POSTGRES_USER" --no-password "$@"'


@dataclass(frozen=True, kw_only=True)
class Server:
    """A PostgreSQL pod and the kubectl that reaches it.

    Args:
        kubectl: kubectl with the options that select the cluster.
        namespace: Namespace of the pod.
        pod: Its name.
    """

    kubectl: Sequence[str]
    namespace: str
    pod: str

    def databases(self) -> Mapping[str, str]:
        """Databases of the services, name → owner."""
        rows = self.query(_NAMES)
        return dict(row.split(" ", 1) for row in rows.splitlines() if row)

    def version(self) -> str:
        """The server's version, e.g. ``15.14``."""
        return self.query("SHOW server_version").split(" ")[0]

    def records(self, database: str) -> int:
        """Runs and registered models in a database; 0 where it keeps none."""
        if self.query(_RECORDS, database) == "0":
            return 0
        return int(self.query(_RUNS, database))

    def dump(self, database: str, path: Path) -> None:
        """Write a consistent dump of one database."""
        with path.open("wb") as file:
            self._run(["pg_dump", "--format=custom", f"--dbname={database}"], f"dump {database}", out=file)

    def restore_beside(self, database: str, owner: str, path: Path) -> None:
        """Restore a dump into a database of its own; the one in use is not touched."""
        beside = f"{database}_restoring"
        self.query(f'DROP DATABASE IF EXISTS "{beside}" WITH (FORCE)')
        self.query(f'CREATE DATABASE "{beside}" OWNER "{owner}"')
        self.query(f'REVOKE ALL ON DATABASE "{beside}" FROM PUBLIC')
        flags = ("--no-owner", f"--role={owner}", "--single-transaction", "--exit-on-error")
        with path.open("rb") as file:
            self._run(["pg_restore", *flags, f"--dbname={beside}"], f"restore {database}", given=file)

    def take_over(self, database: str) -> None:
        """Put the restored database in the place of the one in use; safe to run again after a kill."""
        replaced, beside = f"{database}_replaced", f"{database}_restoring"
        names = self.query("SELECT datname FROM pg_database").splitlines()
        if database in names:
            self.query(f'DROP DATABASE IF EXISTS "{replaced}" WITH (FORCE)')
            self.query(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "  # noqa: S608 - a checked identifier
                f"WHERE datname = '{database}'"
            )
            self.query(f'ALTER DATABASE "{database}" RENAME TO "{replaced}"')
        self.query(f'ALTER DATABASE "{beside}" RENAME TO "{database}"')
        self.query(f'DROP DATABASE IF EXISTS "{replaced}" WITH (FORCE)')

    def query(self, statement: str, database: str = "postgres") -> str:
        """One statement; its rows as lines of text."""
        arguments = ("--no-psqlrc", "--tuples-only", "--no-align", "--quiet", "--set=ON_ERROR_STOP=1")
        told = self._run(["psql", *arguments, f"--dbname={database}", f"--command={statement}"], "query")
        return told.decode().strip()

    def _run(
        self, tool: Sequence[str], what: str, *, given: IO[Any] | None = None, out: IO[Any] | None = None
    ) -> bytes:
        argv = [*self.kubectl, "exec", "--namespace", self.namespace, self.pod]
        argv += ["--stdin"] if given else []
        result = subprocess.run(
            [*argv, "--", "sh", "-c", _LOGIN, "sh", *tool],
            stdin=given or subprocess.DEVNULL,
            stdout=out or subprocess.PIPE,
            stderr=subprocess.PIPE,
            check=False,
            preexec_fn=ends_with_parent(),
        )
        if result.returncode != 0:
            raise LabError(
                f"PostgreSQL can't {what}",
                where=f"pod {self.namespace}/{self.pod}",
                why=result.stderr.decode(errors="replace").strip()[-1000:] or f"code {result.returncode}",
                fix="make status; then the same command again",
            )
        return result.stdout or b""
