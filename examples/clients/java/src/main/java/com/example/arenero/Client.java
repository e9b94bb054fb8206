package com.example.arenero;

import arenero.api.execd.v1.ExecOuterClass.ExecEnded;
import arenero.api.execd.v1.ExecOuterClass.ExecSpec;
import arenero.api.execd.v1.ExecOuterClass.OutputChunk;
import arenero.api.execd.v1.ExecOuterClass.OutputStream;
import arenero.api.execd.v1.ExecServiceGrpc;
import arenero.api.execd.v1.ExecServiceOuterClass.RunRequest;
import arenero.api.execd.v1.ExecServiceOuterClass.RunResponse;
import arenero.api.lifecycle.v1.SandboxOuterClass.Lifetime;
import arenero.api.lifecycle.v1.SandboxOuterClass.SandboxSpec;
import arenero.api.lifecycle.v1.SandboxServiceGrpc;
import arenero.api.lifecycle.v1.SandboxServiceGrpc.SandboxServiceBlockingStub;
import arenero.api.lifecycle.v1.SandboxServiceOuterClass.CreateRequest;
import arenero.api.lifecycle.v1.SandboxServiceOuterClass.DeleteRequest;
import com.google.protobuf.Duration;
import io.grpc.ClientInterceptor;
import io.grpc.Grpc;
import io.grpc.InsecureChannelCredentials;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.StatusRuntimeException;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.io.PrintStream;
import java.util.Iterator;
import java.util.concurrent.TimeUnit;

/** Makes a sandbox, streams the output of one command in it, and deletes it. */
public final class Client {
    private static final String DEFAULT_COMMAND =
            "for i in 1 2 3; do echo \"line $i\"; sleep 0.2; done; echo \"a warning\" >&2; exit 3";

    private final ManagedChannel channel;
    private final ClientInterceptor key;
    private final SandboxServiceBlockingStub sandboxes;

    private Client(ManagedChannel channel, String apiKey) {
        this.channel = channel;
        this.key = metadata("authorization", "Bearer " + apiKey);
        this.sandboxes = SandboxServiceGrpc.newBlockingStub(channel).withInterceptors(key);
    }

    public static void main(String[] arguments) throws InterruptedException {
        String address = System.getenv("ARENERO_ADDRESS");
        String apiKey = System.getenv("ARENERO_API_KEY");
        if (address == null || apiKey == null) {
            fail("set ARENERO_ADDRESS and ARENERO_API_KEY, for example by: eval \"$(arenero env)\"");
        }
        String command = arguments.length > 0 ? String.join(" ", arguments) : DEFAULT_COMMAND;
        // The gateway listens on loopback, so there is no TLS in between; a remote one has it.
        ManagedChannel channel = Grpc.newChannelBuilder(address, InsecureChannelCredentials.create()).build();
        try {
            System.out.println("exit code " + new Client(channel, apiKey).run(command));
        } catch (StatusRuntimeException | IOException error) {
            fail(error.getMessage());
        } finally {
            channel.shutdownNow().awaitTermination(5, TimeUnit.SECONDS);
        }
    }

    /** Does all of it and returns the command's exit code. The sandbox is deleted whatever happens. */
    private int run(String command) throws IOException {
        String id = create();
        System.out.println("created " + id);
        try {
            return stream(id, command);
        } finally {
            sandboxes.delete(DeleteRequest.newBuilder().setSandboxId(id).build());
            System.out.println("deleted " + id);
        }
    }

    private String create() {
        // Should this program be killed, the sandbox ends by itself after the time to live.
        Lifetime lifetime = Lifetime.newBuilder().setTtl(Duration.newBuilder().setSeconds(300)).build();
        SandboxSpec spec = SandboxSpec.newBuilder().setName("from-java").setLifetime(lifetime).build();
        return sandboxes.create(CreateRequest.newBuilder().setSpec(spec).build()).getSandbox().getId();
    }

    /** Runs the command and copies its output as it comes. */
    private int stream(String id, String command) throws IOException {
        RunRequest request = RunRequest.newBuilder().setSpec(ExecSpec.newBuilder().setShell(command)).build();
        Iterator<RunResponse> frames = ExecServiceGrpc.newBlockingStub(channel)
                .withInterceptors(key, metadata("arenero-sandbox-id", id))
                .run(request);
        while (frames.hasNext()) {
            RunResponse answer = frames.next();
            if (answer.hasOutput()) {
                write(answer.getOutput());
            } else if (answer.hasEnded()) {
                return exitCode(answer.getEnded());
            }
        }
        throw new IOException("the stream ended without an end frame: outcome unknown");
    }

    private static void write(OutputChunk chunk) throws IOException {
        PrintStream target = chunk.getStream() == OutputStream.OUTPUT_STREAM_STDERR ? System.err : System.out;
        chunk.getData().writeTo(target);
        target.flush();
    }

    private static int exitCode(ExecEnded ended) throws IOException {
        return switch (ended.getResultCase()) {
            case EXIT_CODE -> ended.getExitCode();
            case SIGNAL -> 128 + ended.getSignal();
            case START_FAILURE -> throw new IOException("the command never ran: " + ended.getStartFailure().getMessage());
            case RESULT_NOT_SET -> throw new IOException("the end frame holds no result: outcome unknown");
        };
    }

    private static ClientInterceptor metadata(String name, String value) {
        Metadata metadata = new Metadata();
        metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value);
        return MetadataUtils.newAttachHeadersInterceptor(metadata);
    }

    private static void fail(String message) {
        System.err.println("error: " + message);
        System.exit(1);
    }
}
