//! Where the files of a dataset are: in a folder, or below a path in a bucket of object storage.

use super::dataset::DatasetError;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use store::export::to_file;

/// What an address of object storage begins with.
const S3: &str = "s3://";

/// The files of a dataset.
#[derive(Debug)]
pub(super) enum Storage {
    /// A folder.
    Folder(PathBuf),
    /// A path in a bucket.
    #[cfg(feature = "s3")]
    Bucket(super::bucket::Bucket),
}

impl Storage {
    /// The folder with this name, which is created if it is missing, or the bucket of an address
    /// `s3://BUCKET/PATH`.
    ///
    /// # Errors
    /// If the folder cannot be created, or the address or the environment is wrong.
    pub(super) fn open(name: &Path) -> Result<Self, DatasetError> {
        match name.to_str() {
            Some(address) if address.starts_with(S3) => bucket(address),
            Some(address) if address.contains("://") => {
                Err(DatasetError::OtherScheme(address.to_owned()))
            }
            _ => {
                let at = |error| DatasetError::Folder(name.to_owned(), error);
                std::fs::create_dir_all(name).map_err(at)?;
                Ok(Self::Folder(name.to_owned()))
            }
        }
    }

    /// The content of a file; `None` if there is none of this name.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, DatasetError> {
        match self {
            Self::Folder(folder) => match std::fs::read(folder.join(name)) {
                Ok(content) => Ok(Some(content)),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => Err(DatasetError::Folder(folder.clone(), error)),
            },
            #[cfg(feature = "s3")]
            Self::Bucket(bucket) => bucket.read(name),
        }
    }

    /// Passes the name of every file to `each`, in any order. Files below further folders are left
    /// out.
    pub(super) fn names(&self, each: &mut dyn FnMut(&str)) -> Result<(), DatasetError> {
        match self {
            Self::Folder(folder) => {
                let at = |error| DatasetError::Folder(folder.clone(), error);
                for entry in std::fs::read_dir(folder).map_err(at)? {
                    each(&entry.map_err(at)?.file_name().to_string_lossy());
                }
                Ok(())
            }
            #[cfg(feature = "s3")]
            Self::Bucket(bucket) => bucket.names(each),
        }
    }

    /// Writes a file completely or not at all.
    pub(super) fn write(&self, name: &str, content: &[u8]) -> Result<(), DatasetError> {
        match self {
            Self::Folder(folder) => {
                Ok(to_file(&folder.join(name), |file| file.write_all(content))?)
            }
            #[cfg(feature = "s3")]
            Self::Bucket(bucket) => bucket.write(name, content.to_vec()),
        }
    }
}

#[cfg(feature = "s3")]
fn bucket(address: &str) -> Result<Storage, DatasetError> {
    Ok(Storage::Bucket(super::bucket::Bucket::open(address)?))
}

#[cfg(not(feature = "s3"))]
fn bucket(address: &str) -> Result<Storage, DatasetError> {
    Err(DatasetError::NoObjectStorage(address.to_owned()))
}
