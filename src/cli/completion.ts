// `warpstage completion`: scripts that complete command lines in bash and zsh.
//
// They are made of the program's own commands and options, so that they cannot fall behind them. What is no command,
// option or choice is completed as a file.

import { Argument, type Command, type Option } from 'commander';
import { type CommandContext, newCommand } from './command.ts';

/** The command `completion`, of a program. */
export function completionCommand(context: CommandContext, program: Command): Command {
  return newCommand('completion', context)
    .summary('print a script that completes command lines')
    .description('Prints a script that completes commands, options and their values in bash or zsh.')
    .addArgument(new Argument('<shell>', 'the shell').choices(['bash', 'zsh']))
    .addHelpText(
      'after',
      "\nTo use it:\n  bash  echo 'source <(warpstage completion bash)' >> ~/.bashrc\n" +
        "  zsh   echo 'source <(warpstage completion zsh)' >> ~/.zshrc",
    )
    .action((shell: 'bash' | 'zsh') => {
      context.terminal.output.write(shell === 'bash' ? bashScript(program) : zshScript(program));
    });
}

/** All spellings of a command's options, with that of help. */
function optionsOf(command: Command): readonly Option[] {
  const { options } = command;
  return options.some(({ long }) => long === '--help')
    ? options
    : [
        ...options,
        ...command
          .createHelp()
          .visibleOptions(command)
          .filter(({ long }) => long === '--help'),
      ];
}

function spellings(option: Option): string[] {
  return [option.short, option.long].flatMap((one) => one ?? []);
}

/** The values that a command's arguments have a choice of. */
function choicesOfArguments(program: Command, command: Command): readonly string[] {
  if (command.name() === 'help') return program.commands.map((one) => one.name());
  return command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
}

function bashScript(program: Command): string {
  const words = (list: readonly string[]) => list.join(' ');
  const choices = program.commands.flatMap((command) =>
    optionsOf(command).flatMap((option) => {
      if (option.argChoices === undefined) return [];
      const cases = spellings(option).map((one) => `'${command.name()} ${one}'`);
      return [`    ${cases.join(' | ')}) words='${words(option.argChoices)}' ;;`];
    }),
  );
  const options = program.commands.map((command) => {
    const own = optionsOf(command).flatMap(spellings);
    return `      ${command.name()}) words='${words(own)}' ;;`;
  });
  const plain = program.commands.flatMap((command) => {
    const own = choicesOfArguments(program, command);
    return own.length === 0 ? [] : [`      ${command.name()}) words='${words(own)}' ;;`];
  });
  return `# bash completion for warpstage
_warpstage() {
  local current="\${COMP_WORDS[COMP_CWORD]}" command="\${COMP_WORDS[1]}" words=''
  COMPREPLY=()
  if ((COMP_CWORD == 1)); then
    words='${words([...program.commands.map((command) => command.name()), ...optionsOf(program).flatMap(spellings)])}'
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    return
  fi
  case "$command \${COMP_WORDS[COMP_CWORD - 1]}" in
${choices.join('\n')}
  esac
  if [[ -z "$words" && "$current" == -* ]]; then
    case "$command" in
${options.join('\n')}
    esac
  elif [[ -z "$words" ]]; then
    case "$command" in
${plain.join('\n')}
    esac
  fi
  [[ -z "$words" ]] || COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o bashdefault -o default -F _warpstage warpstage
`;
}

function zshScript(program: Command): string {
  // What stands in quotes, after a colon or in brackets ends them.
  const text = (words: string) => words.replaceAll("'", "'\\''").replaceAll(/[[\]:]/g, '\\$&');
  const specification = (option: Option): string[] => {
    const takes = option.required || option.optional;
    const values = option.argChoices === undefined ? '_files' : `(${option.argChoices.join(' ')})`;
    return spellings(option).map(
      (one) =>
        `'${one}[${text(option.description)}]${takes ? `:${text(option.attributeName())}:${values}` : ''}'`,
    );
  };
  const commands = program.commands.map((command) => `    '${command.name()}:${text(command.summary())}'`);
  const cases = program.commands.map((command) => {
    const own = choicesOfArguments(program, command);
    const rest = own.length === 0 ? "'*:file:_files'" : `'*:word:(${own.join(' ')})'`;
    const all = [...optionsOf(command).flatMap(specification), rest];
    return `    ${command.name()}) _arguments ${all.join(' ')} ;;`;
  });
  return `#compdef warpstage
# zsh completion for warpstage
_warpstage() {
  local -a commands
  commands=(
${commands.join('\n')}
  )
  if ((CURRENT == 2)); then
    _describe command commands
    return
  fi
  local command="$words[2]"
  shift words
  ((CURRENT--))
  case "$command" in
${cases.join('\n')}
  esac
}
compdef _warpstage warpstage
`;
}
