package main

import "github.com/spf13/cobra"

func command() *cobra.Command {
	cmd := &cobra.Command{Use: "serve"}
	cmd.Flags().BoolP("verbose", "v", false, "print more")
	cmd.Flags().String("model", "tiny", "name of the model")
	log.String("key", "value")
	name, _ := cmd.Flags().GetString("model")
	_ = attribute.String("key", "value", name)
	return cmd
}

func main() { command().Execute() }
