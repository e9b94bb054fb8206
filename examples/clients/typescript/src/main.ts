/** Makes a sandbox, streams the output of one command in it, and deletes it. */

import { promisify } from "node:util";

import { ChannelCredentials, Metadata, type ServiceError } from "@grpc/grpc-js";

import { type ExecEnded, OutputStream } from "../gen/arenero/api/execd/v1/exec.js";
import { ExecServiceClient, RunRequest, type RunResponse } from "../gen/arenero/api/execd/v1/exec_service.js";
import {
  CreateRequest,
  type CreateResponse,
  DeleteRequest,
  type DeleteResponse,
  SandboxServiceClient,
} from "../gen/arenero/api/lifecycle/v1/sandbox_service.js";

const DEFAULT_COMMAND = 'for i in 1 2 3; do echo "line $i"; sleep 0.2; done; echo "a warning" >&2; exit 3';

/** Does all of it and returns the command's exit code. The sandbox is deleted whatever happens. */
async function run(address: string, key: string, command: string): Promise<number> {
  // The gateway listens on loopback, so there is no TLS in between; a remote one has it.
  const credentials = ChannelCredentials.createInsecure();
  const sandboxes = new SandboxServiceClient(address, credentials);
  const execs = new ExecServiceClient(address, credentials);
  const metadata = new Metadata();
  metadata.set("authorization", `Bearer ${key}`);
  try {
    const id = await create(sandboxes, metadata);
    console.log(`created ${id}`);
    try {
      return await stream(execs, toSandbox(metadata, id), command);
    } finally {
      await remove(sandboxes, metadata, id);
      console.log(`deleted ${id}`);
    }
  } finally {
    sandboxes.close();
    execs.close();
  }
}

async function create(sandboxes: SandboxServiceClient, metadata: Metadata): Promise<string> {
  const call = promisify<CreateRequest, Metadata, CreateResponse>(sandboxes.create.bind(sandboxes));
  // Should this program be killed, the sandbox ends by itself after the time to live.
  const spec = { name: "from-typescript", lifetime: { ttl: { seconds: 300 } } };
  const { sandbox } = await call(CreateRequest.fromPartial({ spec }), metadata);
  if (sandbox === undefined) throw new Error("the answer holds no sandbox");
  return sandbox.id;
}

async function remove(sandboxes: SandboxServiceClient, metadata: Metadata, sandboxId: string): Promise<void> {
  const call = promisify<DeleteRequest, Metadata, DeleteResponse>(sandboxes.delete.bind(sandboxes));
  await call(DeleteRequest.fromPartial({ sandboxId }), metadata);
}

function toSandbox(metadata: Metadata, sandboxId: string): Metadata {
  const extended = metadata.clone();
  extended.set("arenero-sandbox-id", sandboxId);
  return extended;
}

/** Runs the command and copies its output as it comes. */
async function stream(execs: ExecServiceClient, metadata: Metadata, command: string): Promise<number> {
  const request = RunRequest.fromPartial({ spec: { command: { $case: "shell", value: command } } });
  const frames: AsyncIterable<RunResponse> = execs.run(request, metadata);
  let ended: ExecEnded | undefined;
  for await (const { frame } of frames) {
    if (frame?.$case === "output") {
      const target = frame.value.stream === OutputStream.OUTPUT_STREAM_STDERR ? process.stderr : process.stdout;
      target.write(frame.value.data);
    } else if (frame?.$case === "ended") {
      ended = frame.value;
    }
  }
  return exitCode(ended);
}

function exitCode(ended: ExecEnded | undefined): number {
  switch (ended?.result?.$case) {
    case "exitCode":
      return ended.result.value;
    case "signal":
      return 128 + ended.result.value;
    case "startFailure":
      throw new Error(`the command never ran: ${ended.result.value.message}`);
    default:
      throw new Error("the stream ended without an end frame: outcome unknown");
  }
}

const { ARENERO_ADDRESS: address, ARENERO_API_KEY: key } = process.env;
const command = process.argv.slice(2).join(" ") || DEFAULT_COMMAND;
try {
  if (!address || !key) throw new Error('set ARENERO_ADDRESS and ARENERO_API_KEY, for example by: eval "$(arenero env)"');
  console.log(`exit code ${await run(address, key, command)}`);
} catch (error) {
  console.error(`error: ${(error as ServiceError).message}`);
  process.exitCode = 1;
}
