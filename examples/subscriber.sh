#!/usr/bin/env bash
# React to the end of sandboxes with nothing but bash: it speaks NATS's own text protocol over /dev/tcp.
#
#     arenero key create my-subscriber --events -o json > subscriber.json
#     examples/subscriber.sh subscriber.json [--from-beginning] [--once]
#
# The subject of each message says what happened to which sandbox, so there is nothing to decode.
set -euo pipefail
export LC_ALL=C

key_file="${1:?usage: subscriber.sh KEY.json [--from-beginning] [--once]}"
shift
from_beginning="" once=""
for option in "$@"; do
    case "$option" in
        --from-beginning) from_beginning=yes ;;
        --once) once=yes ;;
        *) echo "unknown option $option" >&2; exit 2 ;;
    esac
done

# The values of a key are letters, digits, `-`, `_`, `.`, `:` and `/`, so this is all the JSON that is needed.
value() { grep -oE "\"$1\": *\"[^\"]*\"" "$key_file" | head -n 1 | cut -d '"' -f 4; }
url="$(value url)" user="$(value user)" password="$(value password)" prefix="$(value api_prefix)"
consumer="$(grep -oE '"name": *"ev_[a-z0-9_]*_sandbox"' "$key_file" | cut -d '"' -f 4)"
host_and_port="${url#nats://}"
inbox="_INBOX.$user.$$"

exec 3<> "/dev/tcp/${host_and_port%:*}/${host_and_port##*:}"

send() { printf '%s\r\n' "$@" >&3; }
publish() { # SUBJECT REPLY BODY
    send "PUB $1 $2 ${#3}" "$3"
}
# Many at once: bash can't turn Nagle's algorithm off, so that each question costs a wait of some 40 ms.
batch=100 left=0
ask_for_more() {
    local expires_ns=30000000000
    [[ -n $once ]] && expires_ns=500000000
    left=$batch
    publish "$prefix.CONSUMER.MSG.NEXT.SANDBOX.$consumer" "$inbox.next" "{\"batch\": $batch, \"expires\": $expires_ns}"
}

# What to do when a sandbox has ended: put your own here.
on_terminated() { # SANDBOX_ID
    echo "$1 terminated"
}

handle() { # SUBJECT
    local kind tenant sandbox_id fact
    IFS=. read -r kind tenant sandbox_id fact <<< "$1"
    [[ $kind == sandbox && $fact == terminated ]] && on_terminated "$sandbox_id"
    return 0
}

send "CONNECT {\"user\": \"$user\", \"pass\": \"$password\", \"verbose\": false, \"headers\": true, \"no_responders\": true, \"lang\": \"bash\", \"version\": \"1\"}"
send "SUB $inbox.* 1" "PING"
[[ -n $from_beginning ]] && publish "$prefix.CONSUMER.RESET.SANDBOX.$consumer" "$inbox.reset" '{"seq": 1}'
ask_for_more

while IFS= read -r line <&3; do
    # A message is `MSG subject sid [reply] size`, with headers `HMSG subject sid [reply] size-of-headers size`.
    read -ra words <<< "${line%$'\r'}"
    case "${words[0]:-}" in
        PING) send PONG ;;
        -ERR) echo "NATS says: ${line%$'\r'}" >&2; exit 1 ;;
        MSG | HMSG)
            subject="${words[1]}" size=$((words[-1] + 2))
            if [[ $subject == "$inbox.next" ]]; then
                # No message but a status: nothing more came in time.
                status="$(head -c "$size" <&3)"
                [[ -n $once && $status == "NATS/1.0 40"[48]* ]] && break
                ask_for_more
                continue
            fi
            head -c "$size" <&3 > /dev/null
            if [[ $subject != "$inbox."* ]]; then
                handle "$subject"
                send "PUB ${words[3]} 4" "+ACK"
                ((--left)) || ask_for_more
            fi
            ;;
    esac
done
send PING
IFS= read -r _ <&3
