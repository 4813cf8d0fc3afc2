# fish completion for flowrun. It evaluates nothing of the line.

# Print the word at the cursor without its quotes, also if a quotation mark is still open.
function __flowrun_current
    set -l word (commandline -ct)
    string unescape -- $word
    or string unescape -- $word\'
    or string unescape -- $word\"
    or string unescape -- (string sub -e -1 -- $word) # a backslash at the end
end

# Ask flowrun what to offer, and set __flowrun_offered. Without an offer, fish completes files.
function __flowrun_offer
    set -l current (__flowrun_current)
    set -l given
    for word in (commandline -opc)
        set -a given (string replace -r '^~/' "$HOME/" -- $word)
    end
    set -l lines ($given[1] __complete $given[2..] "$current" 2>/dev/null)
    or return

    set -g __flowrun_offered
    set -l directive (string sub -s 2 -- $lines[-1])
    set -l flag (string match -r -- '^-.*?=' "$current") # what is offered for --flag=VALUE is the value
    for line in $lines[1..-2]
        if test (string sub -l (string length -- "$current") -- "$flag$line") = "$current"
            set -a __flowrun_offered "$flag$line"
        end
    end
    if test (math "floor($directive / 8) % 4") -gt 0 # endings of files, or folders
        return 1
    end
    test (count $__flowrun_offered) -gt 0 -o (math "floor($directive / 4) % 2") -eq 1
end

complete -c flowrun -e
complete -c flowrun -n __flowrun_offer -f -k -a '$__flowrun_offered'
