//! Makes a sandbox, streams the output of one command in it, and deletes it.

use std::error::Error;
use std::io::{self, Write};
use std::{env, process};

use tonic::Request;
use tonic::metadata::MetadataValue;
use tonic::transport::{Channel, Endpoint};

use api::arenero::api::execd::v1::exec_service_client::ExecServiceClient;
use api::arenero::api::execd::v1::{
    ExecEnded, ExecSpec, OutputChunk, OutputStream, RunRequest, exec_ended, exec_spec, run_response,
};
use api::arenero::api::lifecycle::v1::sandbox_service_client::SandboxServiceClient;
use api::arenero::api::lifecycle::v1::{CreateRequest, DeleteRequest, Lifetime, SandboxSpec};

/// Generated from the protos by build.rs.
#[allow(clippy::all, dead_code)]
mod api {
    tonic::include_proto!("api");
}

const DEFAULT_COMMAND: &str =
    "for i in 1 2 3; do echo \"line $i\"; sleep 0.2; done; echo \"a warning\" >&2; exit 3";

type Result<T> = std::result::Result<T, Box<dyn Error>>;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let command = if arguments.is_empty() { DEFAULT_COMMAND.into() } else { arguments.join(" ") };
    match run(command).await {
        Ok(code) => println!("exit code {code}"),
        Err(error) => {
            eprintln!("error: {error}");
            process::exit(1);
        }
    }
}

/// Does all of it and returns the command's exit code. The sandbox is deleted whatever happens.
async fn run(command: String) -> Result<u32> {
    let (Ok(address), Ok(key)) = (env::var("ARENERO_ADDRESS"), env::var("ARENERO_API_KEY")) else {
        return Err("set ARENERO_ADDRESS and ARENERO_API_KEY, for example by: eval \"$(arenero env)\"".into());
    };
    // The gateway listens on loopback, so there is no TLS in between; a remote one has it.
    let channel = Endpoint::from_shared(format!("http://{address}"))?.connect_lazy();
    let mut sandboxes = SandboxServiceClient::new(channel.clone());
    let spec = SandboxSpec {
        name: "from-rust".into(),
        // Should this program be killed, the sandbox ends by itself.
        lifetime: Some(Lifetime {
            ttl: Some(prost_types::Duration { seconds: 300, nanos: 0 }),
            ..Default::default()
        }),
        ..Default::default()
    };
    let request = CreateRequest { spec: Some(spec), ..Default::default() };
    let created = sandboxes.create(authorized(request, &key)?).await?.into_inner();
    let id = created.sandbox.ok_or("the answer holds no sandbox")?.id;
    println!("created {id}");

    let outcome = stream(channel, &key, &id, command).await;
    let request = DeleteRequest { sandbox_id: id.clone(), ..Default::default() };
    sandboxes.delete(authorized(request, &key)?).await?;
    println!("deleted {id}");
    outcome
}

/// Runs the command and copies its output as it comes.
async fn stream(channel: Channel, key: &str, id: &str, command: String) -> Result<u32> {
    let spec = ExecSpec { command: Some(exec_spec::Command::Shell(command)), ..Default::default() };
    let mut request = authorized(RunRequest { spec: Some(spec), ..Default::default() }, key)?;
    request.metadata_mut().insert("arenero-sandbox-id", id.parse()?);
    let mut frames = ExecServiceClient::new(channel).run(request).await?.into_inner();
    while let Some(answer) = frames.message().await? {
        match answer.frame {
            Some(run_response::Frame::Output(chunk)) => write(&chunk)?,
            Some(run_response::Frame::Ended(ended)) => return exit_code(ended),
            _ => {}
        }
    }
    Err("the stream ended without an end frame: outcome unknown".into())
}

fn authorized<T>(message: T, key: &str) -> Result<Request<T>> {
    let mut request = Request::new(message);
    request.metadata_mut().insert("authorization", MetadataValue::try_from(format!("Bearer {key}"))?);
    Ok(request)
}

fn write(chunk: &OutputChunk) -> io::Result<()> {
    if chunk.stream() == OutputStream::Stderr {
        return io::stderr().write_all(&chunk.data);
    }
    let mut stdout = io::stdout();
    stdout.write_all(&chunk.data)?;
    stdout.flush()
}

fn exit_code(ended: ExecEnded) -> Result<u32> {
    match ended.result {
        Some(exec_ended::Result::ExitCode(code)) => Ok(code),
        Some(exec_ended::Result::Signal(signal)) => Ok(128 + signal),
        Some(exec_ended::Result::StartFailure(failure)) => {
            Err(format!("the command never ran: {}", failure.message).into())
        }
        None => Err("the end frame holds no result: outcome unknown".into()),
    }
}
