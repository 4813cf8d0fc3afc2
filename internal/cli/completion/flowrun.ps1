# PowerShell completion for flowrun. It evaluates nothing of the line.
Register-ArgumentCompleter -Native -CommandName 'flowrun', 'flowrun.exe' -ScriptBlock {
    param($current, $line, $cursor)

    # The words before the cursor, without their quotes. Variables in them are not replaced.
    $given = @()
    $last = $null # the word at the cursor
    foreach ($element in $line.CommandElements) {
        if ($element.Extent.StartOffset -ge $cursor) { break }
        $word = $element.Extent.Text
        if ($element -is [System.Management.Automation.Language.StringConstantExpressionAst] -or
            $element -is [System.Management.Automation.Language.ExpandableStringExpressionAst]) {
            $word = $element.Value
        }
        $given += $word
        if ($element.Extent.EndOffset -ge $cursor) { $last = $word }
    }
    if ($null -eq $last) { # the cursor is behind a space
        $last = ''
        $given += ''
    }
    $program = $given[0]
    $words = @($given | Select-Object -Skip 1)

    # Before version 7.3, PowerShell loses empty arguments and quotation marks.
    if ($PSVersionTable.PSVersion -lt [version]'7.3' -or $PSNativeCommandArgumentPassing -eq 'Legacy') {
        $words = @(foreach ($word in $words) {
                $word = $word -replace '(\\*)"', '$1$1\"'
                if ($word -match '\s') { $word = $word -replace '(\\+)$', '$1$1' }
                if ($word -eq '') { '""' } else { $word }
            })
    }
    $lines = @(& $program __complete $words 2>$null)
    if ($lines.Count -eq 0) { return }

    $directive = [int]$lines[-1].Substring(1)
    if ($directive -band 8) { return } # what is offered are endings of files
    $flag = ''
    if ($last -match '^-[^=]*=') { $flag = $Matches[0] } # what is offered for --flag=VALUE is the value
    $offered = @($lines | Select-Object -SkipLast 1 | Where-Object {
            ($flag + $_).StartsWith($last, [System.StringComparison]::Ordinal)
        })
    foreach ($entry in $offered) {
        $value, $text = $entry -split "`t", 2
        if (-not $text) { $text = $value }
        $word = $flag + $value
        if ($word -match '[^\w./:=+-]' -or $word -match '^\W*$') {
            $word = "'" + ($word -replace '[\u0027\u2018-\u201b]', '$0$0') + "'"
        }
        if (-not ($directive -band 2)) { $word += ' ' }
        [System.Management.Automation.CompletionResult]::new($word, $value, 'ParameterValue', $text)
    }
    if ($offered.Count -eq 0 -and ($directive -band 4)) { '' } # no files either
}
