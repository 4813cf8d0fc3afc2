# bash completion for flowrun. It needs bash alone, 3.2 or later.
_flowrun() {
    local line=${COMP_LINE:0:COMP_POINT} words=() cur word text out directive=0 i
    # bash splits words at = : and @ as well; flowrun's words end at blanks.
    for ((i = 0; i <= COMP_CWORD; i++)); do
        if [[ $line =~ ^[[:space:]]+ || $i -eq 0 ]]; then
            line=${line#"${BASH_REMATCH[0]}"}
            words+=("")
        fi
        word=${COMP_WORDS[i]}
        if [[ $i -eq $COMP_CWORD || $line != "$word"* ]]; then
            word=$line # as far as the cursor
        fi
        line=${line#"$word"}
        words[${#words[@]} - 1]+=$word
    done
    for i in "${!words[@]}"; do
        word=${words[i]/#\~\//"$HOME/"}
        words[i]=${word//[\"\'\\]/}
    done
    cur=${words[${#words[@]} - 1]}
    out=$("${words[0]}" __complete "${words[@]:1}" 2>/dev/null) || return

    if [[ $cur == -*=* ]]; then # what is offered for --flag=VALUE is the value
        cur=${cur#*=}
    fi
    local candidates=() texts=()
    while IFS=$'\t' read -r word text; do
        case $word in
            :[0-9]*) directive=${word#:} ;;
            "$cur"*) candidates+=("$word") texts+=("$text") ;;
        esac
    done <<<"$out"

    COMPREPLY=()
    local before=${cur%"${cur##*[=:@]}"} # what bash takes for words of their own
    before=${before%@}                   # an @ begins its word
    for i in "${!candidates[@]}"; do
        printf -v word %q "${candidates[i]#"$before"}"
        if [[ ${#candidates[@]} -gt 1 && -n ${texts[i]} && $COMP_TYPE -ne 37 ]]; then
            word+="  (${texts[i]})"
        fi
        COMPREPLY+=("$word")
    done
    if ((directive & 16)) && [[ ${#COMPREPLY[@]} -eq 0 ]]; then
        while IFS= read -r word; do COMPREPLY+=("$word"); done < <(compgen -d -- "$cur")
    fi
    if type compopt >/dev/null 2>&1; then # not in bash 3.2
        if ((directive & 16)); then compopt -o filenames; fi
        if ((directive & 2)); then compopt -o nospace; fi
        if ((directive & 4)); then compopt +o default +o bashdefault; fi
        if ((directive & 32)); then compopt -o nosort 2>/dev/null; fi # since 4.4
    fi
}
complete -o bashdefault -o default -F _flowrun flowrun
