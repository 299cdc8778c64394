//! The files of a dataset in object storage that speaks the protocol of Amazon S3, by the crate
//! `object_store`. Everything about the service comes from the environment (`AWS_…`).

use super::dataset::DatasetError;
use futures_util::TryStreamExt;
use object_store::aws::{AmazonS3Builder, AmazonS3ConfigKey};
use object_store::path::Path as Key;
use object_store::{ClientConfigKey, Error, ObjectStore, ObjectStoreExt, RetryConfig};
use std::time::Duration;
use tokio::runtime::Runtime;

/// How long a connection may take to open, and a request with its answer. Our choice: a file of a
/// dataset has about 100 kB.
const CONNECT: &str = "5s";
const REQUEST: &str = "20s";
/// A failed request is repeated for this long. Our choice: longer than the restart of a service,
/// and short enough for a message.
const PATIENCE: Duration = Duration::from_secs(30);
/// How often a request is repeated within that time.
const REPEATS: usize = 8;
/// The variables of the environment without which requests cannot be signed.
const CREDENTIALS: [&str; 2] = ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"];

/// A path in a bucket.
#[derive(Debug)]
pub(super) struct Bucket {
    /// As the user wrote it, for messages.
    address: String,
    prefix: Key,
    store: Box<dyn ObjectStore>,
    runtime: Runtime,
}

impl Bucket {
    /// The path of an address `s3://BUCKET/PATH`. No request is sent yet.
    ///
    /// # Errors
    /// If the address or the environment is wrong.
    pub(super) fn open(address: &str) -> Result<Self, DatasetError> {
        let wrong = |reason: String| DatasetError::Address(address.to_owned(), reason);
        let (bucket, path) = address
            .strip_prefix("s3://")
            .map(|rest| rest.split_once('/').unwrap_or((rest, "")))
            .filter(|(bucket, path)| !bucket.is_empty() && !path.trim_matches('/').is_empty())
            .ok_or_else(|| wrong("it needs a bucket and a path".to_owned()))?;
        let prefix =
            Key::parse(path.trim_matches('/')).map_err(|error| wrong(error.to_string()))?;
        // Without them the library would ask the network for the credentials of a virtual machine.
        let signed = !std::env::var("AWS_SKIP_SIGNATURE").is_ok_and(|value| value == "true");
        let missing = CREDENTIALS.into_iter().find(|name| std::env::var_os(name).is_none());
        if let Some(missing) = missing.filter(|_| signed) {
            return Err(DatasetError::NoCredentials(address.to_owned(), missing));
        }
        let retry =
            RetryConfig { max_retries: REPEATS, retry_timeout: PATIENCE, ..RetryConfig::default() };
        let store = AmazonS3Builder::from_env()
            .with_bucket_name(bucket)
            .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::ConnectTimeout), CONNECT)
            .with_config(AmazonS3ConfigKey::Client(ClientConfigKey::Timeout), REQUEST)
            .with_retry(retry)
            .build()
            .map_err(|error| wrong(error.to_string()))?;
        Self::of(address, prefix, Box::new(store))
    }

    fn of(address: &str, prefix: Key, store: Box<dyn ObjectStore>) -> Result<Self, DatasetError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime
            .map_err(|error| DatasetError::Address(address.to_owned(), error.to_string()))?;
        Ok(Self { address: address.to_owned(), prefix, store, runtime })
    }

    /// The error of a request, with what to do.
    fn fault(&self, error: &Error) -> DatasetError {
        let reason = error.to_string().split_whitespace().collect::<Vec<_>>().join(" ");
        // Of a failed listing the library passes on only the text of the answer.
        let says = |words: &str| reason.contains(words);
        let missing = matches!(error, Error::NotFound { .. }) || says("NoSuchBucket");
        let refused =
            matches!(error, Error::PermissionDenied { .. } | Error::Unauthenticated { .. })
                || says("403 Forbidden");
        let hint = if missing {
            "create the bucket, or name another"
        } else if refused {
            "check AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, and what they may do"
        } else {
            "check AWS_ENDPOINT_URL and AWS_REGION, and whether the service answers; it was asked \
             for up to 30 s"
        };
        DatasetError::Bucket { address: self.address.clone(), reason, hint }
    }

    fn key(&self, name: &str) -> Key {
        self.prefix.clone().join(name)
    }

    /// The content of a file; `None` if there is none of this name.
    pub(super) fn read(&self, name: &str) -> Result<Option<Vec<u8>>, DatasetError> {
        let key = self.key(name);
        let content = self.runtime.block_on(async { self.store.get(&key).await?.bytes().await });
        match content {
            Ok(content) => Ok(Some(content.into())),
            // The bucket may be missing: `names` tells.
            Err(Error::NotFound { .. }) => Ok(None),
            Err(error) => Err(self.fault(&error)),
        }
    }

    /// Passes the name of every file to `each`.
    pub(super) fn names(&self, each: &mut dyn FnMut(&str)) -> Result<(), DatasetError> {
        let mut all = self.store.list(Some(&self.prefix));
        loop {
            match self.runtime.block_on(all.try_next()) {
                Ok(Some(object)) => {
                    let below = object.location.prefix_match(&self.prefix);
                    let parts: Vec<_> = below.into_iter().flatten().collect();
                    if let [name] = &parts[..] {
                        each(name.as_ref());
                    }
                }
                Ok(None) => return Ok(()),
                Err(error) => return Err(self.fault(&error)),
            }
        }
    }

    /// Writes a file, which appears at once.
    pub(super) fn write(&self, name: &str, content: Vec<u8>) -> Result<(), DatasetError> {
        let key = self.key(name);
        let written = self.runtime.block_on(self.store.put(&key, content.into()));
        written.map(drop).map_err(|error| self.fault(&error))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::memory::InMemory;

    fn in_memory() -> Bucket {
        Bucket::of("s3://bucket/runs", Key::from("runs"), Box::new(InMemory::new())).unwrap()
    }

    #[test]
    fn files_are_below_the_path_of_the_address() {
        let bucket = in_memory();
        assert_eq!(bucket.read("a").unwrap(), None);
        bucket.write("a", b"one".to_vec()).unwrap();
        bucket.write("a", b"two".to_vec()).unwrap();
        let other = Key::from("elsewhere/b");
        bucket.runtime.block_on(bucket.store.put(&other, "three".into())).unwrap();
        let deeper = Key::from("runs/deeper/c");
        bucket.runtime.block_on(bucket.store.put(&deeper, "four".into())).unwrap();
        let mut names = Vec::new();
        bucket.names(&mut |name| names.push(name.to_owned())).unwrap();
        assert_eq!((names, bucket.read("a").unwrap()), (vec!["a".to_owned()], Some(b"two".into())));
    }

    #[test]
    fn an_address_has_a_bucket_and_a_path() {
        for address in ["s3://", "s3://bucket", "s3://bucket/", "s3:///path"] {
            let error = Bucket::open(address).unwrap_err().to_string();
            assert!(error.contains("it needs a bucket and a path"), "{error}");
            assert!(error.contains("s3://BUCKET/PATH"), "{error}");
        }
        let error = Bucket::open("s3://bucket/a//b").unwrap_err().to_string();
        assert!(error.starts_with("--dataset s3://bucket/a//b: "), "{error}");
    }
}
