// The commands that can be copied of a call, of one that was made and of one in a form.
import { asCli, asCurl, type Call } from './command';
import { Copy } from './parts';

/** Buttons that copy a call as a command. */
export function CopyCommands({ call }: { call(): Call }) {
  return <>
    <Copy text={() => asCli(call())}>Copy as CLI</Copy>
    <Copy text={() => asCli(call(), 'fish')}>Copy for fish</Copy>
    <Copy text={() => asCli(call(), 'powershell')}>Copy for PowerShell</Copy>
    <Copy text={() => asCurl(call())}>Copy as curl</Copy>
  </>;
}
