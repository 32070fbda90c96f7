//! The story's paths and the machine's: one fixed name in stories, one folder of each run outside.

/// The workspace of stories.
const WORKSPACE: &[u8] = b"/workspace";

/// The story's workspace and the folder that stands for it.
#[derive(Clone)]
pub(super) struct Mapping {
    pub(super) real: Vec<u8>,
}

impl Mapping {
    /// From the story to the programs.
    pub(super) fn outward(&self, bytes: &[u8]) -> Vec<u8> {
        replace(bytes, WORKSPACE, &self.real)
    }

    /// From the programs to the story.
    pub(super) fn inward(&self, bytes: &[u8]) -> Vec<u8> {
        replace(bytes, &self.real, WORKSPACE)
    }
}

fn replace(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some(at) = rest.windows(from.len()).position(|window| window == from) {
        out.extend_from_slice(&rest[..at]);
        out.extend_from_slice(to);
        rest = &rest[at + from.len()..];
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_workspace_of_a_story_stands_for_a_real_folder() {
        let mapping = Mapping { real: b"/tmp/x/w".to_vec() };
        let real = mapping.outward(b"{\"cwd\":\"/workspace\",\"file\":\"/workspace/a\"}\n");
        assert_eq!(real, b"{\"cwd\":\"/tmp/x/w\",\"file\":\"/tmp/x/w/a\"}\n");
        assert_eq!(mapping.inward(&real), b"{\"cwd\":\"/workspace\",\"file\":\"/workspace/a\"}\n");
    }
}
