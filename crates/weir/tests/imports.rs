//! No circular import between modules of different folders, in any crate.
//!
//! Within one folder, two files may use each other. A folder and its siblings may not: of the
//! entries of a folder (files and subfolders), no cycle of imports may contain a subfolder. A
//! module may use its parent's items and the parent its children; tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use syn::visit::{self, Visit};
use syn::{Attribute, Item, UseTree};

/// A path of modules from the root of the crate.
type Module = Vec<String>;

#[derive(Default)]
struct Source {
    /// Whether its children lie in a folder.
    is_folder: bool,
    /// Each imported or named path, from the root of the crate if it begins with `crate`.
    paths: Vec<Vec<String>>,
    /// The names that it makes available, with the paths that they stand for.
    reexports: BTreeMap<String, Vec<String>>,
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
    })
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item(&mut self, item: &'ast Item) {
        let attributes = match item {
            Item::Mod(item) => &item.attrs,
            Item::Use(item) => &item.attrs,
            Item::Fn(item) => &item.attrs,
            Item::Impl(item) => &item.attrs,
            _ => return visit::visit_item(self, item),
        };
        if is_test(attributes) {
            return;
        }
        let Item::Use(item) = item else { return visit::visit_item(self, item) };
        let mut leaves = Vec::new();
        flatten(&item.tree, &mut Vec::new(), &mut leaves);
        for (name, path) in leaves {
            if matches!(item.vis, syn::Visibility::Inherited) {
                self.paths.push(path);
            } else {
                self.reexports.insert(name, path);
            }
        }
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> =
            path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if words.len() > 1 {
            self.paths.push(words);
        }
        visit::visit_path(self, path);
    }
}

/// The names that a `use` brings in, each with its whole path.
fn flatten(tree: &UseTree, before: &mut Vec<String>, out: &mut Vec<(String, Vec<String>)>) {
    let mut leaf = |word: &syn::Ident, name: &syn::Ident| {
        let mut path = before.clone();
        if word != "self" {
            path.push(word.to_string());
        }
        out.push((name.to_string(), path));
    };
    match tree {
        UseTree::Path(path) => {
            before.push(path.ident.to_string());
            flatten(&path.tree, before, out);
            before.pop();
        }
        UseTree::Name(name) => leaf(&name.ident, &name.ident),
        UseTree::Rename(rename) => leaf(&rename.ident, &rename.rename),
        UseTree::Glob(_) => out.push(("*".to_owned(), before.clone())),
        UseTree::Group(group) => {
            group.items.iter().for_each(|tree| flatten(tree, before, out));
        }
    }
}

/// The modules of a crate by their paths.
fn read(folder: &Path, module: &Module, all: &mut BTreeMap<Module, Source>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .expect("a folder")
        .map(|entry| entry.expect("an entry").path())
        .collect();
    entries.sort();
    for path in entries {
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        if stem == "tests" {
            continue;
        }
        let mut inner = module.clone();
        if path.is_dir() {
            inner.push(stem);
            all.entry(inner.clone()).or_default().is_folder = true;
            read(&path, &inner, all);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            if !["lib", "main", "mod"].contains(&stem.as_str()) {
                inner.push(stem);
            }
            let text = std::fs::read_to_string(&path).expect("a source file");
            let file = syn::parse_file(&text)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
            all.entry(inner).or_default().visit_file(&file);
        }
    }
}

/// The module in which the item of a path is defined, as seen from `from`; `None` for another
/// crate, and for items of no module of this crate.
fn resolve(
    all: &BTreeMap<Module, Source>,
    from: &Module,
    path: &[String],
    depth: usize,
) -> Option<Module> {
    let mut at = match path.first()?.as_str() {
        "crate" => Module::new(),
        "self" | "super" => from.clone(),
        child => {
            let mut inner = from.clone();
            inner.push(child.to_owned());
            all.contains_key(&inner).then(|| from.clone())?
        }
    };
    for (index, word) in path.iter().enumerate() {
        match word.as_str() {
            "crate" | "self" => {}
            "super" => {
                at.pop();
            }
            word => {
                let mut inner = at.clone();
                inner.push(word.to_owned());
                if all.contains_key(&inner) {
                    at = inner;
                    continue;
                }
                let behind = all.get(&at)?.reexports.get(word);
                if let Some(behind) = behind.filter(|_| depth < 8) {
                    let mut whole = behind.clone();
                    whole.extend_from_slice(&path[index + 1..]);
                    return resolve(all, &at, &whole, depth + 1).or(Some(at));
                }
                return Some(at);
            }
        }
    }
    Some(at)
}

/// The cycles of imports in a crate that go through a folder, in words.
fn cycles(source: &Path) -> Vec<String> {
    let mut all = BTreeMap::new();
    read(source, &Module::new(), &mut all);
    // For each folder: which of its entries uses which other.
    let mut uses: BTreeMap<Module, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (module, source) in &all {
        let paths = source.paths.iter().chain(source.reexports.values());
        for used in paths.filter_map(|path| resolve(&all, module, path, 0)) {
            let common = module.iter().zip(&used).take_while(|(one, other)| one == other).count();
            if let (Some(one), Some(other)) = (module.get(common), used.get(common)) {
                let entries = uses.entry(module[..common].to_vec()).or_default();
                entries.entry(one.clone()).or_default().insert(other.clone());
            }
        }
    }
    let mut found = Vec::new();
    for (folder, edges) in &uses {
        for one in edges.keys() {
            let mut inner = folder.clone();
            inner.push(one.clone());
            if !all[&inner].is_folder {
                continue;
            }
            let back = edges[one].iter().filter(|other| reaches(edges, other, one));
            found.extend(back.map(|other| format!("{}: {one} and {other}", folder.join("::"))));
        }
    }
    found
}

/// Whether `from` uses `to`, directly or through others.
fn reaches(edges: &BTreeMap<String, BTreeSet<String>>, from: &str, to: &str) -> bool {
    let (mut seen, mut next) = (BTreeSet::from([from]), vec![from]);
    while let Some(at) = next.pop() {
        for used in edges.get(at).into_iter().flatten() {
            if used == to {
                return true;
            }
            if seen.insert(used) {
                next.push(used);
            }
        }
    }
    false
}

#[test]
fn no_folder_is_in_a_circle_of_imports() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the folder of crates");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(crates).expect("the folder of crates") {
        let source = entry.expect("a crate").path().join("src");
        let name = source.parent().and_then(Path::file_name).unwrap_or_default().to_string_lossy();
        found.extend(cycles(&source).into_iter().map(|cycle| format!("{name}: {cycle}")));
    }
    found.sort();
    assert!(found.is_empty(), "circular imports:\n{}", found.join("\n"));
}
