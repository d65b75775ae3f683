# compress-session.ps1 -SessionFile PATH [-Mode standard] [-KeepTail 60] [-MaxIter 100] [-DryRun]: compress one session.
param(
    [Parameter(Mandatory = $true, Position = 0)][string]$SessionFile,
    [ValidateSet('light', 'standard', 'aggressive')][string]$Mode = 'standard',
    [string]$KeepTail = '60',
    [int]$MaxIter = 0,
    [switch]$DryRun
)
$words = @('--session-file', $SessionFile, '--mode', $Mode, '--keep-tail', $KeepTail)
if ($MaxIter -gt 0) { $words += @('--max-iter', $MaxIter) }
if ($DryRun) { $words += '--dry-run' }
$python = (Get-Command python, python3, py -ErrorAction SilentlyContinue | Select-Object -First 1).Source
if (-not $python) { Write-Error 'Python 3 is needed.'; exit 1 }
& $python (Join-Path $PSScriptRoot 'compress-simple.py') @words
exit $LASTEXITCODE
