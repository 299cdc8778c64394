use super::{Claim, Factor, read};
use document::{FileError, did_you_mean};
use include_dir::{Dir, include_dir};

static CLAIMS: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/../../claims");

/// All claims of all papers.
#[derive(Debug)]
pub struct Catalogue {
    /// The claims, paper by paper, in the order of the files.
    pub claims: Vec<Claim>,
    /// What is changed for the claims that do not hold, paper by paper.
    pub factors: Vec<Factor>,
}

/// A word that names neither a claim nor a paper.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "there is no claim or paper '{word}'; {}",
    did_you_mean(word, known.iter().map(String::as_str), "there are")
)]
pub struct UnknownClaim {
    word: String,
    known: Vec<String>,
}

impl Catalogue {
    /// The claims that are built into the program.
    ///
    /// # Errors
    /// If one of their files has an error.
    pub fn embedded() -> Result<Self, FileError> {
        let mut files: Vec<_> = CLAIMS.files().collect();
        files.sort_by_key(|file| file.path());
        let (mut claims, mut factors) = (Vec::new(), Vec::new());
        for file in files {
            let path = format!("claims/{}", file.path().display());
            let text = file
                .contents_utf8()
                .ok_or_else(|| FileError::file(&path, "the file is not UTF-8 text", ""))?;
            let (more_claims, more_factors) = read::read(text, &path)?;
            claims.extend(more_claims);
            factors.extend(more_factors);
        }
        Ok(Self { claims, factors })
    }

    /// The claims of one file.
    ///
    /// # Errors
    /// If the file has an error.
    pub fn parse(text: &str, path: &str) -> Result<Self, FileError> {
        let (claims, factors) = read::read(text, path)?;
        Ok(Self { claims, factors })
    }

    /// The claims with these ids (`C-5`), of these papers (`carlucci-2017`) or of these letters
    /// (`C` for `C-1`, `C-2`, …), in the order of the catalogue; all claims if `words` is empty.
    ///
    /// # Errors
    /// If a word is none of these.
    pub fn select(&self, words: &[String]) -> Result<Vec<&Claim>, UnknownClaim> {
        let fits = |claim: &Claim, word: &str| {
            let group = claim.id.split_once('-').map_or("", |(group, _)| group);
            [&claim.id, &claim.paper, group].iter().any(|name| name.eq_ignore_ascii_case(word))
        };
        for word in words {
            if !self.claims.iter().any(|claim| fits(claim, word)) {
                let mut known: Vec<String> =
                    self.claims.iter().map(|claim| claim.paper.clone()).collect();
                known.dedup();
                known.extend(self.claims.iter().map(|claim| claim.id.clone()));
                return Err(UnknownClaim { word: word.clone(), known });
            }
        }
        let chosen =
            |claim: &&Claim| words.is_empty() || words.iter().any(|word| fits(claim, word));
        Ok(self.claims.iter().filter(chosen).collect())
    }

    /// The claims that an experiment tests.
    pub fn of_experiment<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Claim> {
        self.claims.iter().filter(move |claim| claim.experiment == name)
    }
}
