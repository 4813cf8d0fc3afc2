package history

import "context"

type actorKey struct{}

// WithActor returns a context for calls that a Store makes on behalf of a named person. The Store
// notes the person beside what is changed. Without it, a change is that of the user of the process.
func WithActor(ctx context.Context, name string) context.Context {
	return context.WithValue(ctx, actorKey{}, name)
}

// ActorOf returns the name given to WithActor, "" if there is none.
func ActorOf(ctx context.Context) string {
	name, _ := ctx.Value(actorKey{}).(string)
	return name
}
