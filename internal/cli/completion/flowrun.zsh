#compdef flowrun
# zsh completion for flowrun. It evaluates nothing of the line.
_flowrun() {
    local program=${(Q)words[1]} quote= cur flag= out word text width=0 directive=0
    local -a given names texts shown options expl

    given=("${(@Q)words[2,CURRENT-1]}")
    [[ $compstate[quote] == [\'\"] ]] && quote=$compstate[quote]
    cur=${(Q):-$quote$PREFIX$quote}
    out=$("${program/#\~\//$HOME/}" __complete "${(@)given/#\~\//$HOME/}" "$cur" 2>/dev/null) || return
    [[ $cur == -*=* ]] && flag=${cur%%=*}= # what is offered for --flag=VALUE is the value

    while IFS=$'\t' read -r word text; do
        if [[ $word == :<-> ]]; then
            directive=${word#:}
        elif [[ ${flag}$word == "$cur"* ]]; then
            names+=("$flag$word") texts+=("$text")
            ((width = $#word > width ? $#word : width))
        fi
    done <<<"$out"

    if (($#names && !(directive & 8))); then # 8: what is offered are endings of files
        for word text in "${(@)names:^texts}"; do
            shown+=("${(r:width:)${word#"$flag"}}${text:+  -- $text}")
        done
        ((directive & 2)) && options=(-S '')
        # zsh quotes what it inserts, as the word was begun; the words were chosen here (-U).
        _wanted -V values expl value compadd -U "$options[@]" -l -d shown -a names
    elif ((!(directive & 4))) && [[ $PREFIX != *[\$\`]* ]]; then # zsh would evaluate a folder's name
        compset -P '-*='
        ((directive & 16)) && options=(-/)
        _files "$options[@]"
    fi
}

# As a file of $fpath, this is the body of the function at its first call.
if [[ $funcstack[1] == _flowrun ]]; then
    _flowrun "$@"
else
    compdef _flowrun flowrun
fi
