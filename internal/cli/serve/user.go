package serve

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/internal/service/users"
)

func userCommand(env *ui.Env) *cobra.Command {
	c := &cobra.Command{
		Use:   "user",
		Short: "Manage the users of the service",
		Long: `Manage the users of the service of this state directory, who sign in to its web UI and
call its HTTP API with a token of their own. A user has one of these roles:

  viewer     sees runs, tools and schedules
  operator   also starts, stops and continues runs, and answers their questions
  admin      also changes definitions

The audit log names the user of every change: flowrun history audit. A service without
users has a single token, whose holder may do everything. A running service needs no
restart.`,
		Example: `  flowrun user add anna --role operator
  flowrun user list
  flowrun user remove anna`,
		Args: ui.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(userAddCommand(env), userListCommand(env), userRemoveCommand(env))
	return c
}

func userAddCommand(env *ui.Env) *cobra.Command {
	var role string
	c := &cobra.Command{
		Use:   "add NAME",
		Short: "Add a user, and print the user's token",
		Long: `Add a user, and print the user's token on stdout. It is not shown again: only a hash of it
is stored. For another token, remove the user and add it again.`,
		Example: `  flowrun user add anna --role operator
  flowrun user add dashboard --role viewer > token`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			if err := ui.OneOf(c, "role", role, users.RoleNames()); err != nil {
				return err
			}
			dir, err := ui.MakeStateDir()
			if err != nil {
				return err
			}
			token, err := users.Add(dir, args[0], users.Role(role))
			if errors.Is(err, users.ErrName) || errors.Is(err, users.ErrExists) {
				return ui.Usagef(c, "%w", err)
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(env.Stdout, token)
			env.Notef("%s signs in with this token. It is not shown again", args[0])
			return noteUserChange(env, fmt.Sprintf("%s added as %s", args[0], role))
		},
	}
	c.Flags().StringVar(&role, "role", string(users.Viewer), "what the user may do, a `role`: "+strings.Join(users.RoleNames(), "|"))
	c.RegisterFlagCompletionFunc("role", cobra.FixedCompletions(users.RoleNames(), cobra.ShellCompDirectiveNoFileComp))
	c.ValidArgsFunction = cobra.NoFileCompletions
	return c
}

func userListCommand(env *ui.Env) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the users of the service",
		Example: `  flowrun user list`,
		Args:    ui.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			list, err := listUsers()
			if err != nil {
				return err
			}
			return printUsers(env, list, output)
		},
	}
	ui.OutputFlag(c, &output, "table", "json")
	return c
}

// listUsers returns the users of the state directory.
func listUsers() ([]users.User, error) {
	dir, err := ui.StateDir()
	if err != nil {
		return nil, err
	}
	return users.List(dir)
}

func printUsers(env *ui.Env, list []users.User, output string) error {
	if output == "json" {
		type userJSON struct {
			Name  string     `json:"name"`
			Role  users.Role `json:"role"`
			Added time.Time  `json:"added"`
		}
		doc := struct {
			Schema string     `json:"schema"`
			Users  []userJSON `json:"users"`
		}{"flowrun/users.v1", []userJSON{}}
		for _, u := range list {
			doc.Users = append(doc.Users, userJSON{u.Name, u.Role, u.Added})
		}
		return ui.WriteJSON(env, doc)
	}
	if len(list) == 0 {
		env.Notef("there are no users; to add one: flowrun user add NAME --role ROLE")
		return nil
	}
	var rows [][]string
	for _, u := range list {
		rows = append(rows, []string{u.Name, string(u.Role), u.Added.Local().Format(time.DateTime)})
	}
	return ui.Table(env, []console.Column{{Title: "NAME"}, {Title: "ROLE"}, {Title: "ADDED", Yields: 1, Whole: true}}, rows, nil)
}

func userRemoveCommand(env *ui.Env) *cobra.Command {
	return &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a user",
		Long: `Remove a user. The user's token and sessions are invalid from then on. Runs that the user
started continue, except calls over MCP.`,
		Example: `  flowrun user remove anna`,
		Args:    cobra.ExactArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) (names []string, _ cobra.ShellCompDirective) {
			list, _ := listUsers()
			for _, u := range list {
				names = append(names, u.Name+"\t"+string(u.Role))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			dir, err := ui.StateDir()
			if err != nil {
				return err
			}
			if err := users.Remove(dir, args[0]); errors.Is(err, users.ErrNoUser) {
				return ui.Missing(err)
			} else if err != nil {
				return err
			}
			env.Notef("removed user %s", args[0])
			return noteUserChange(env, args[0]+" removed")
		},
	}
}

// noteUserChange notes a change of the users in the audit log.
func noteUserChange(env *ui.Env, detail string) error {
	return env.WriteHistory(func(ctx context.Context, s ui.History) error { return s.Audit().Add(ctx, "user", "", detail) })
}
