//! Generates the stubs of the whole API into OUT_DIR.

use std::path::{Path, PathBuf};
use std::{error::Error, fs, io};

const PROTO: &str = "../../../proto";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo::rerun-if-changed={PROTO}/arenero");
    let files = protos(Path::new(PROTO).join("arenero").as_path())?;
    tonic_prost_build::configure()
        .build_server(false)
        .include_file("api.rs")
        .compile_fds(protox::compile(files, [PROTO])?)?;
    Ok(())
}

fn protos(directory: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(protos(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "proto") {
            found.push(path);
        }
    }
    found.sort();
    Ok(found)
}
