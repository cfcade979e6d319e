// Package flowtest runs workflows on scripted models and compares what they do with what a file of tests expects.
//
//	f, err := flowtest.Parse("greet_test.yaml", text)
//	t := flowtest.New(f)
//	engine, err := exec.New(exec.Config{Every: []exec.Hooks{t.Hooks()}, ...}) // and add the workflow
//	results, err := t.Run(ctx, engine, "greet")
//
// No test asks a model or a server: the file has the answers of models and the results of tools.
package flowtest
