//! Puts the testbed's program into `OUT_DIR`, from which maturin copies it into the wheel.
//!
//! A separate cargo builds it in a separate target folder, because the outer cargo holds its lock.
//! `FOREBAY_EMULATOR` is the path of one that is already built, as by `make testbed`; with "none" the wheel has none.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const PROGRAM: &str = "forebay-emulator";

fn main() {
    for name in ["PYO3_BUILD_EXTENSION_MODULE", "FOREBAY_EMULATOR"] {
        println!("cargo::rerun-if-env-changed={name}");
    }
    println!("cargo::rerun-if-changed=build.rs");
    if !is_for_a_wheel() {
        return;
    }
    let out = PathBuf::from(var("OUT_DIR"));
    let program = match env::var_os("FOREBAY_EMULATOR") {
        Some(none) if none == "none" => return,
        Some(built) => watched(PathBuf::from(built)),
        None => build(&out),
    };
    fs::copy(&program, out.join(PROGRAM))
        .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
}

/// Whether maturin builds for Linux: only Linux has a testbed. A debug build needs no program.
fn is_for_a_wheel() -> bool {
    env::var_os("PYO3_BUILD_EXTENSION_MODULE").is_some()
        && var("CARGO_CFG_TARGET_OS") == "linux"
        && var("PROFILE") == "release"
}

fn build(out: &Path) -> PathBuf {
    for source in ["../emulator/src", "../emulator/Cargo.toml", "../sim/src", "../../Cargo.lock"] {
        watched(PathBuf::from(source));
    }
    let (target, folder) = (var("TARGET"), out.join("target"));
    let status = Command::new(var("CARGO"))
        .args(["build", "--release", "--locked", "--package", PROGRAM])
        .args(["--config", "profile.release.strip='debuginfo'", "--target"])
        .arg(&target)
        .arg("--target-dir")
        .arg(&folder)
        .status()
        .expect("cargo starts");
    assert!(status.success(), "cargo could not build {PROGRAM}");
    folder.join(target).join("release").join(PROGRAM)
}

fn watched(path: PathBuf) -> PathBuf {
    println!("cargo::rerun-if-changed={}", path.display());
    path
}

fn var(name: &str) -> OsString {
    env::var_os(name).unwrap_or_else(|| panic!("cargo sets {name}"))
}
