// Command arenero-client makes a sandbox, streams the output of one command in it, and deletes it.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/types/known/durationpb"

	execdv1 "example.com/arenero-client/gen/arenero/api/execd/v1"
	lifecyclev1 "example.com/arenero-client/gen/arenero/api/lifecycle/v1"
)

const defaultCommand = `for i in 1 2 3; do echo "line $i"; sleep 0.2; done; echo "a warning" >&2; exit 3`

// errOutcomeUnknown means that the stream broke before the end frame: the command may or may not have finished.
var errOutcomeUnknown = errors.New("the stream ended without an end frame: outcome unknown")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	command := defaultCommand
	if len(os.Args) > 1 {
		command = strings.Join(os.Args[1:], " ")
	}
	code, err := run(ctx, os.Getenv("ARENERO_ADDRESS"), os.Getenv("ARENERO_API_KEY"), command)
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
	fmt.Println("exit code", code)
}

// run does all of it and returns the command's exit code. The sandbox is deleted whatever happens.
func run(ctx context.Context, address, key, command string) (code uint32, err error) {
	if address == "" || key == "" {
		return 0, errors.New("set ARENERO_ADDRESS and ARENERO_API_KEY, for example by: eval \"$(arenero env)\"")
	}
	// The gateway listens on loopback, so there is no TLS in between; a remote one has it.
	conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	authorized := metadata.AppendToOutgoingContext(ctx, "authorization", "Bearer "+key)

	sandboxes := lifecyclev1.NewSandboxServiceClient(conn)
	created, err := sandboxes.Create(authorized, &lifecyclev1.CreateRequest{Spec: &lifecyclev1.SandboxSpec{
		Name: "from-go",
		// Should this program be killed, the sandbox ends by itself.
		Lifetime: &lifecyclev1.Lifetime{Ttl: durationpb.New(5 * time.Minute)},
	}})
	if err != nil {
		return 0, fmt.Errorf("create: %w", err)
	}
	id := created.GetSandbox().GetId()
	fmt.Println("created", id)
	defer func() {
		err = errors.Join(err, remove(authorized, sandboxes, id))
	}()
	return stream(metadata.AppendToOutgoingContext(authorized, "arenero-sandbox-id", id), execdv1.NewExecServiceClient(conn), command)
}

// stream runs the command and copies its output as it comes.
func stream(ctx context.Context, execs execdv1.ExecServiceClient, command string) (uint32, error) {
	frames, err := execs.Run(ctx, &execdv1.RunRequest{
		Spec: &execdv1.ExecSpec{Command: &execdv1.ExecSpec_Shell{Shell: command}},
	})
	if err != nil {
		return 0, fmt.Errorf("run: %w", err)
	}
	for {
		answer, err := frames.Recv()
		if errors.Is(err, io.EOF) {
			return 0, errOutcomeUnknown
		}
		if err != nil {
			return 0, fmt.Errorf("run: %w", err)
		}
		switch frame := answer.GetFrame().(type) {
		case *execdv1.RunResponse_Output:
			if _, err := target(frame.Output.GetStream()).Write(frame.Output.GetData()); err != nil {
				return 0, err
			}
		case *execdv1.RunResponse_Ended:
			return exitCode(frame.Ended)
		}
	}
}

func target(stream execdv1.OutputStream) io.Writer {
	if stream == execdv1.OutputStream_OUTPUT_STREAM_STDERR {
		return os.Stderr
	}
	return os.Stdout
}

func exitCode(ended *execdv1.ExecEnded) (uint32, error) {
	switch result := ended.GetResult().(type) {
	case *execdv1.ExecEnded_ExitCode:
		return result.ExitCode, nil
	case *execdv1.ExecEnded_Signal:
		return 128 + result.Signal, nil
	case *execdv1.ExecEnded_StartFailure:
		return 0, fmt.Errorf("the command never ran: %s", result.StartFailure.GetMessage())
	}
	return 0, errOutcomeUnknown
}

// remove deletes the sandbox, also when the caller was interrupted.
func remove(ctx context.Context, sandboxes lifecyclev1.SandboxServiceClient, id string) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 30*time.Second)
	defer cancel()
	if _, err := sandboxes.Delete(ctx, &lifecyclev1.DeleteRequest{SandboxId: id}); err != nil {
		return fmt.Errorf("delete: %w", err)
	}
	fmt.Println("deleted", id)
	return nil
}
