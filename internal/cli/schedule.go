package cli

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"remit/config"
	"remit/internal/cli/exit"
	"remit/internal/cli/workspace"
	"remit/internal/clock/calendar"
	"remit/internal/text/shell"
	"remit/internal/view"
)

func newSchedule(p *process) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "schedule",
		Short: "Look at the dates that a schedule makes",
		Args:  cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) > 0 {
				return p.unknownOfSchedule(cmd, args[0])
			}
			return cmd.Help()
		},
	}
	cmd.AddCommand(newSchedulePreview(p))
	return cmd
}

func newSchedulePreview(p *process) *cobra.Command {
	var from workspace.Directory
	var until string
	cmd := &cobra.Command{
		Use:   "preview NAME",
		Short: "Show the dates of a schedule, where holidays move them, and when they are due",
		Long: "Show the dates of a schedule, where holidays move them and why, and when they are due. It\n" +
			"reads the configuration alone: today's date, the machine's time zone and its language change\n" +
			"nothing.\n\n" +
			"Exit codes: 0 done; 1 a mistake.",
		Args: oneArgAtMost("NAME"),
		RunE: func(_ *cobra.Command, args []string) error {
			var last calendar.Date
			if until != "" {
				var err error
				if last, err = calendar.ParseDate(until); err != nil {
					return fmt.Errorf("--until=%s %w", until, err)
				}
			}
			loaded, err := workspace.Load(p.ctx, p.host, p.streams, &from)
			if err != nil {
				return err
			}
			s, err := findSchedule(&from, loaded, strings.Join(args, ""))
			if err != nil {
				return err
			}
			if p.streams.AsJSON {
				return p.streams.JSON().Schedule(s, last)
			}
			return view.Schedule(p.streams.Out, s, last, p.streams.Screen(p.streams.Out))
		},
	}
	directoryFlags(&from, cmd)
	cmd.Flags().StringVar(&until, "until", "", "show no later ones than this `date`, such as 2026-12-31")
	cmd.Flags().BoolVar(&p.streams.AsJSON, "json", false, "write JSON Lines")
	return cmd
}

// unknownOfSchedule answers a word that is no command of schedule, which may be the name of one.
func (p *process) unknownOfSchedule(cmd *cobra.Command, word string) error {
	_, isKnown := otherCommandsOf["schedule "+word]
	if isKnown || len(cmd.SuggestionsFor(word)) > 0 {
		return p.unknownCommand(cmd, word)
	}
	return exit.WithHint(fmt.Errorf("there is no command %q. Where it is a schedule, preview shows its dates", word), "remit schedule preview "+shell.Word(word))
}

// findSchedule finds a schedule by its name, with or without the word in front.
func findSchedule(dir *workspace.Directory, loaded *config.Configuration, name string) (*config.Schedule, error) {
	name = strings.TrimPrefix(name, "schedule.")
	i := slices.IndexFunc(loaded.Schedules, func(s config.Schedule) bool { return s.Name == name })
	if i >= 0 {
		return &loaded.Schedules[i], nil
	}
	var names []string
	for _, s := range loaded.Schedules {
		names = append(names, s.Name)
	}
	if name == "" && len(names) > 0 {
		return nil, exit.WithHint(fmt.Errorf("schedule preview needs the name of a schedule; there are: %s", strings.Join(names, ", ")), dir.Command("schedule preview "+names[0]))
	}
	if len(names) == 0 && name == "" {
		return nil, errors.New("the configuration declares no schedule")
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("there is no schedule %q: the configuration declares none", name)
	}
	return nil, fmt.Errorf("there is no schedule %q; there are: %s", name, strings.Join(names, ", "))
}
