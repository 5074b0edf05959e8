//! The user's ssh configuration for a node, as `ssh -G` prints it.

use std::collections::BTreeMap;
use std::time::Duration;

use super::{ask, words};

/// Time limit for ssh to print its configuration.
const ANSWER: Duration = Duration::from_secs(10);

/// Options of every ssh. It asks no questions, gets no terminal, and gives nodes no agent. It uses
/// a shared connection that exists and starts none, which would outlive the fleet.
const ALWAYS: [&str; 4] = ["-T", "-oBatchMode=yes", "-oControlMaster=no", "-oForwardAgent=no"];
/// Options for users without their own. They end an ssh whose node has not answered for 20 s.
const CONNECT_TIMEOUT: &str = "-oConnectTimeout=15";
/// The same through a jump host: it includes the login there.
const CONNECT_TIMEOUT_VIA: &str = "-oConnectTimeout=60";
const ALIVE_INTERVAL: &str = "-oServerAliveInterval=5";
/// Interval that Debian's ssh has with BatchMode.
const DEBIAN_ALIVE_INTERVAL: &str = "300";
/// Settings that would keep the program from its input or its command, and the options without
/// them. Older versions of ssh know neither.
const CONFLICTS: [(&str, &[&str], &str); 4] = [
    ("remotecommand", &["none"], "-oRemoteCommand=none"),
    ("stdinnull", &["no", "false"], "-oStdinNull=no"),
    ("forkafterauthentication", &["no", "false"], "-oForkAfterAuthentication=no"),
    ("sessiontype", &["default"], "-oSessionType=default"),
];

/// Settings of ssh for a host, by lower-case name.
#[derive(Debug, Default)]
pub(super) struct SshConfig(BTreeMap<String, String>);

impl SshConfig {
    /// Asks ssh, with the user's own options in `command`. It has no settings if ssh does not
    /// answer.
    pub(super) fn ask(command: &[String], node: &str) -> Self {
        let asked = [command, &words(&["-G", "--", node])].concat();
        let answer = ask(&asked, &[], ANSWER).ok().filter(|answer| answer.is_success());
        answer.map(|answer| Self::parse(&answer.output)).unwrap_or_default()
    }

    pub(super) fn parse(text: &str) -> Self {
        let settings = text.lines().filter_map(|line| line.trim().split_once(' '));
        let own =
            |(name, value): (&str, &str)| (name.to_ascii_lowercase(), value.trim().to_owned());
        // ssh uses the first value of a name.
        let mut all = BTreeMap::new();
        for (name, value) in settings.map(own) {
            all.entry(name).or_insert(value);
        }
        Self(all)
    }

    fn get(&self, name: &str) -> Option<&str> {
        self.0.get(name).map(String::as_str).filter(|value| *value != "none")
    }

    /// Returns the options that proofmark adds.
    pub(super) fn options(&self) -> Vec<String> {
        let mut all = words(&ALWAYS);
        if self.get("connecttimeout").is_none() {
            let via = self.via().is_some();
            all.push(if via { CONNECT_TIMEOUT_VIA } else { CONNECT_TIMEOUT }.to_owned());
        }
        let batch = self.get("batchmode").is_some_and(|value| value == "yes");
        let interval = self.get("serveraliveinterval").unwrap_or("0");
        if interval == "0" || batch && interval == DEBIAN_ALIVE_INTERVAL {
            all.push(ALIVE_INTERVAL.to_owned());
        }
        for (name, usual, option) in CONFLICTS {
            if self.get(name).is_some_and(|value| !usual.contains(&value)) {
                all.push(option.to_owned());
            }
        }
        all
    }

    /// Returns the jump host, or the command that connects.
    pub(super) fn via(&self) -> Option<&str> {
        self.get("proxyjump").or_else(|| self.get("proxycommand"))
    }

    /// Returns true if the configuration changes how a name is reached.
    pub(super) fn leads_elsewhere(&self, name: &str) -> bool {
        let host = name.rsplit('@').next().unwrap_or(name);
        let shared =
            self.get("controlpath").is_some_and(|path| std::fs::symlink_metadata(path).is_ok());
        let other = self.get("hostname").is_some_and(|other| !other.eq_ignore_ascii_case(host));
        self.via().is_some() || other || shared
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_the_user_has_not_set_is_added() {
        let options = |text: &str| SshConfig::parse(text).options().join(" ");
        let usual = "host n1\nhostname 10.0.0.1\nconnecttimeout none\nserveraliveinterval 0\n\
                     serveralivecountmax 3\nstdinnull no\nsessiontype default\n";
        let always = ALWAYS.join(" ");
        let both = format!("{always} {CONNECT_TIMEOUT} {ALIVE_INTERVAL}");
        assert_eq!(options(usual), both);
        assert_eq!(options(""), both, "an ssh that prints no configuration");
        let via = format!("{always} {CONNECT_TIMEOUT_VIA} {ALIVE_INTERVAL}");
        assert_eq!(options("proxyjump gw\n"), via);
        let own = "connecttimeout 60\nserveraliveinterval 30\ncontrolpath /run/user/me/n1\n";
        assert_eq!(options(own), always);
        // Debian sets it with BatchMode.
        assert_eq!(options("batchmode yes\nserveraliveinterval 300\n"), both);
        assert_eq!(options("connecttimeout 9\nserveraliveinterval 300\n"), always);
        let odd = "connecttimeout 9\nserveraliveinterval 9\nremotecommand tmux a\nstdinnull yes\n\
                   forkafterauthentication yes\nsessiontype none\n";
        let added =
            format!("{always} -oRemoteCommand=none -oStdinNull=no -oForkAfterAuthentication=no");
        assert!(options(odd).starts_with(&added), "{}", options(odd));
    }

    #[test]
    fn a_jump_host_is_known() {
        let via = |text: &str| SshConfig::parse(text).via().map(str::to_owned);
        assert_eq!(via("proxyjump gw.example.org\n").as_deref(), Some("gw.example.org"));
        assert_eq!(via("proxycommand nc gw 22\nproxycommand x\n").as_deref(), Some("nc gw 22"));
        assert_eq!(via("proxycommand none\n"), None);
        assert!(SshConfig::parse("hostname 10.0.0.1\n").leads_elsewhere("root@n1"));
        assert!(!SshConfig::parse("hostname n1\n").leads_elsewhere("root@N1"));
    }
}
