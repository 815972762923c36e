#!/bin/sh
# Starts PostgreSQL; makes the cluster of databases first where there is none.
#   PGDATA                    directory of the data, below a volume that this user may write to
#   POSTGRES_PASSWORD_FILE    file with the superuser's password, read only when the data is made
#   POSTGRES_USER             superuser, default postgres
#   POSTGRES_DB               database, default the name of the superuser
#   POSTGRES_EXTRA_DATABASES  further databases, separated by spaces or commas
# Every connection, local ones too, needs the password. Arguments are passed on to the server.
set -eu

fail() {
    echo "postgres-entrypoint: $1" >&2
    exit 1
}

# The shell is process 1, which has no default reaction to signals.
trap 'exit 143' TERM INT

[ "${1:-postgres}" = postgres ] || case "$1" in
    -*) set -- postgres "$@" ;;
    *) exec "$@" ;;
esac
[ $# -eq 0 ] || shift

: "${PGDATA:=/var/lib/postgresql/data/pgdata}"
user=${POSTGRES_USER:-postgres}
databases="${POSTGRES_DB:-$user} ${POSTGRES_EXTRA_DATABASES:-}"

make_databases() {
    IFS=', '
    for database in $databases; do
        case $database in
            postgres | '') continue ;;
            *[!A-Za-z0-9_-]*) fail "database name '$database': use letters, digits, _ and - only" ;;
        esac
        statements="${statements:-}CREATE DATABASE \"$database\"
"
    done
    unset IFS
    # Single-user mode needs neither a port nor a password; it reads one statement a line.
    [ -z "${statements:-}" ] || printf '%s' "$statements" | postgres --single -D "$1" postgres >/dev/null
}

make_data() {
    # Below another name until it is complete: a kill in the middle leaves nothing that passes for data.
    work=$PGDATA.initialising
    rm -rf "$work"
    [ -n "${POSTGRES_PASSWORD_FILE:-}" ] || fail "POSTGRES_PASSWORD_FILE is not set; name a file with the password"
    [ -s "$POSTGRES_PASSWORD_FILE" ] || fail "$POSTGRES_PASSWORD_FILE: no such file, or it is empty"
    mkdir -p "$(dirname "$PGDATA")"
    if [ -d "$PGDATA" ]; then
        rmdir "$PGDATA" || fail "$PGDATA holds files but no database, or is a volume itself; use a directory below it"
    fi
    initdb -D "$work" --username="$user" --pwfile="$POSTGRES_PASSWORD_FILE" --auth=scram-sha-256 \
        --encoding=UTF8 --locale=C.UTF-8 >/dev/null
    echo "host all all all scram-sha-256" >>"$work/pg_hba.conf"
    make_databases "$work"
    sync
    mv "$work" "$PGDATA"
    echo "postgres-entrypoint: new data in $PGDATA" >&2
}

[ -s "$PGDATA/PG_VERSION" ] || make_data

# With a read-only root only mounted directories can hold the socket.
sockets=/tmp
[ ! -w /var/run/postgresql ] || sockets=/var/run/postgresql

postgres -D "$PGDATA" -c listen_addresses='*' -c unix_socket_directories="$sockets" "$@" &
server=$!
# Fast shutdown: clients are disconnected instead of waited for.
trap 'kill -INT "$server"' TERM INT
status=0
wait "$server" || status=$?
# A signal ends the first wait; the second one gets the server's own status.
while kill -0 "$server" 2>/dev/null; do
    status=0
    wait "$server" || status=$?
done
exit "$status"
