# bash completion for flowrun. It needs bash alone, 3.2 or later, and evaluates nothing of the line.

# Split a text into words, without their quotes, and set words; quote is the quotation mark that is
# open at its end.
_flowrun_split() {
    local rest=${1#"${1%%[^[:space:]]*}"} chunk text
    words=("") quote=
    while [[ -n $rest ]]; do
        chunk=${rest:0:1} text=
        case $quote$chunk in
            \' | \") quote=$chunk ;;
            "''" | '""') quote= ;;
            \'*) chunk=${rest%%\'*} text=$chunk ;;
            \\*) chunk=${rest:0:2} text=${rest:1:1} ;;
            \"\\*)
                chunk=${rest:0:2} text=$chunk
                [[ $text == \\[\\\"\$\`] ]] && text=${text:1}
                ;;
            \"*) chunk=${rest%%[\"\\]*} text=$chunk ;;
            [[:space:]]) chunk=${rest%%[^[:space:]]*} && words+=("") ;;
            *)
                chunk=${rest%%[[:space:]\"\'\\]*} text=$chunk
                [[ -z ${words[${#words[@]} - 1]} ]] && text=${text/#\~\//"$HOME/"}
                ;;
        esac
        rest=${rest:${#chunk}}
        words[${#words[@]} - 1]+=$text
    done
}

# Quote a text for the place where it is inserted: outside quotes, or after an open quotation mark.
_flowrun_quote() {
    local text=$1
    case $quote in
        \') text=${text//\'/"'\\''"} ;;
        \")
            text=${text//\\/\\\\} text=${text//\"/\\\"} text=${text//\$/\\\$} text=${text//\`/\\\`}
            text=${text//!/'"\!"'}
            ;;
        *)
            printf -v text %q "$text"
            text=${text//:\~/:\\\~}
            ;;
    esac
    # readline drops a quotation mark at the beginning, and adds none after one at the end.
    [[ -n $quote && $text == "$quote"* ]] && text=$quote$text
    [[ -n $quote && $text == *"$quote" ]] && text+=$quote
    word=$text
}

_flowrun() {
    local line=${COMP_LINE:0:COMP_POINT} words quote cur out word text directive=0 i
    [[ $line == *"$2" ]] || return
    _flowrun_split "$line"
    cur=${words[${#words[@]} - 1]}
    out=$("${words[0]}" __complete "${words[@]:1}" 2>/dev/null) || return

    # What stands before the text that bash replaces, which begins behind an open quotation mark and
    # behind each of = : and @.
    _flowrun_split "${line%"$2"}"
    local before=${words[${#words[@]} - 1]} flag=
    [[ $cur == -*=* ]] && flag=${cur%%=*}= # what is offered for --flag=VALUE is the value

    local candidates=() texts=()
    while IFS=$'\t' read -r word text; do
        case $word in
            :[0-9]*) directive=${word#:} ;;
            *) [[ $flag$word == "$cur"* ]] && candidates+=("$flag$word") texts+=("$text") ;;
        esac
    done <<<"$out"
    if ((directive & 8)); then candidates=(); fi # what is offered are endings of files

    COMPREPLY=()
    for i in "${!candidates[@]}"; do
        _flowrun_quote "${candidates[i]#"$before"}"
        if [[ ${#candidates[@]} -gt 1 && -n ${texts[i]} && $COMP_TYPE -ne 37 ]]; then
            word+="  (${texts[i]})"
        fi
        COMPREPLY+=("$word")
    done
    if ((directive & 16)) && [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "${cur#"$before"}")
    fi
    if type compopt >/dev/null 2>&1; then # not in bash 3.2
        if ((directive & 16)); then compopt -o filenames; fi
        if ((directive & 2)); then compopt -o nospace; fi
        if ((directive & 4)); then compopt +o default +o bashdefault; fi
        if ((directive & 32)); then compopt -o nosort 2>/dev/null; fi # since 4.4
    fi
}
complete -o bashdefault -o default -F _flowrun flowrun
