//! Templates that try to use up time or memory.

use crate::support::Project;

#[test]
fn a_template_can_neither_loop_for_ever_nor_overflow() {
    for template in [
        "{% for a in range(100000) %}{% for b in range(100000) %}{% for c in range(100000) %}x{% endfor %}{% endfor %}{% endfor %}".to_string(),
        format!("{{{{ {}1 }}}}", "not ".repeat(50_000)),
        format!("{{{{ {}1 }}}}", "not ".repeat(8_000)),
        "{{ 'x' | indent(99999999999999) }}".to_string(),
        "{{ \"%99999999999d\" | format(1) }}".to_string(),
    ] {
        let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
        project.write(".blue/templates/digest.md", &template);
        let output = project.blue(&["knowledge", "build"]);
        assert!(matches!(output.code, 0 | 2), "{}: exit {}", &template[..40], output.code);
    }
}

/// Templates that would use up all memory, or never end.
fn templates_that_grow() -> Vec<String> {
    let twice = |tag: &str| format!("{{% set x = 'aaaaaaaa' %}}\n{}", tag.repeat(40));
    let each = |step: &str| {
        let set = format!("{{% set n.x = {step} %}}");
        format!(
            "{{% set n = namespace(x='aaaa', l=[1]) %}}\n{{% for i in range(90000) %}}{set}{{% endfor %}}"
        )
    };
    let mut all: Vec<String> = [
        "{% set x = x ~ x %}",
        "{% set x = x + x %}",
        "{% set n = 90 %}{% set x = x * n %}",
        "{% set x = x | replace('a', x) %}",
        "{% set x = x | replace('', x) %}",
        "{% set x = x | list | join(x) %}",
        "{% set x = [x, x] | join %}",
        "{% set x = [x, x] %}{% if loop is defined %}{% endif %}{% set y = x | string %}",
        "{% set x = [x, x] %}{% set y = x ~ '' %}",
        "{% set x = [x, x] %}{% set y = x | pprint %}",
        "{% set x = {'a': x, 'b': x} %}{% if x == x | list %}{% endif %}",
        "{% set x = (x, x) %}{% if x == (x,) %}{% endif %}",
        "{% set x %}{{ x }}{{ x }}{% endset %}",
        "{% set x %}{% filter upper %}{{ x }}{{ x }}{% endfilter %}{% endset %}",
        "{% set x = x | list | zip(*x, *x) | list %}",
        "{% set x = x | list %}{% set x = x + x %}{% set y = x | sort %}",
        "{% set x = (x | list) | map('replace', 'a', 'aaaaaaaa') | join %}",
        "{% set x = x | list | slice(99999999, x) %}",
        "{% set x = x | batch(999999999, x) | string %}",
        "{% macro m(y) %}{{ y }}{{ y }}{% endmacro %}{% set x = m(x) %}",
        "{% set x = dict(a=x, b=x) | items %}",
        "{% set x = [x, x] | sum(start='') %}",
        "{% set x = x | indent(16) ~ '\\n' | replace('', '\\n') ~ x %}",
    ]
    .map(twice)
    .into();
    all.extend(
        [
            "n.x ~ n.x",
            "n.x | replace('a', 'aa')",
            "[n.x]",
            "[n]",
            "n",
            "{'a': n.x}",
            "n.x[:] ~ 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa'",
            "[n.x, i][0:]",
            "([n.x] + n.l)[0:]",
            "n.x | list | batch(2)",
            "n.x | upper | lower ~ i ~ n.x",
            "debug()",
        ]
        .map(each),
    );
    all.extend(templates_that_grow_otherwise());
    all
}

/// Templates that do so with loops, with recursion, or already when they are compiled.
fn templates_that_grow_otherwise() -> Vec<String> {
    let raw = "a".repeat(30_000);
    let loops = "{% for i in range(9000) %}{% for j in range(9000) %}";
    let ends = "{% endfor %}{% endfor %}";
    vec![
        format!("{loops}{raw}{ends}"),
        format!("{{% set x %}}{loops}{raw}{ends}{{% endset %}}"),
        format!("{loops}{{% macro m() %}}{{{{ i }}}}{{% endmacro %}}{{% set y = m %}}{ends}"),
        "{% macro m(x) %}{{ m(x ~ x) }}{% endmacro %}\n{{ m('aaaa') }}".to_string(),
        "{% for a in [1] recursive %}{{ loop([a, a]) }}{% endfor %}".to_string(),
        "{{ 'a' * 99999999 }}".repeat(2_000),
        "{{ (1, 2) * 49999999 }}".repeat(2_000),
        format!("{{{{ n_live{} }}}}", " + 1".repeat(15_000)),
        format!("{{{{ 'a'{} }}}}", " ~ 'a'".repeat(9_000)),
        format!("{{% if n_live %}}{}{{% endif %}}", "{% elif n_live %}".repeat(3_500)),
        format!("{}{}", "{% if 1 %}".repeat(3_000), "{% endif %}".repeat(3_000)),
        format!("{{{{ {}1{} }}}}", "[".repeat(20_000), "]".repeat(20_000)),
        "{% include '.blue/templates/digest.md' %}".to_string(),
    ]
}

#[test]
fn a_template_over_the_memory_limit_is_reported_with_its_line() {
    for template in templates_that_grow() {
        let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
        project.write(".blue/templates/digest.md", &template);
        // The limit is four times what a template may use. A build over it is killed.
        let blue = env!("CARGO_BIN_EXE_blue");
        let line = format!("ulimit -v 2000000; ulimit -t 60; exec '{blue}' knowledge build");
        let mut command = std::process::Command::new("sh");
        command.args(["-c", &line]).current_dir(project.path());
        let output = project.isolate(&mut command).output().unwrap();
        let stderr = String::from_utf8_lossy(&output.stderr);
        let start = &template[..template.len().min(200)];
        assert_eq!(output.status.code(), Some(2), "{start}: {:?} {stderr}", output.status);
        let named = stderr.split(".blue/templates/digest.md:").nth(1).unwrap_or_default();
        assert!(named.starts_with(|c: char| c.is_ascii_digit()), "{start}: {stderr}");
    }
}

#[test]
fn templates_may_use_the_usual_filters() {
    let project = Project::with("docs/adr/0001-one.md", "# One\n\nText.\n");
    let template = "{% set ns = namespace(n=0, text='') %}\n\
        {% for e in in_force if e.head %}{% set ns.n = ns.n + 2 * loop.index %}\
        {% set ns.text = ns.text ~ e.head | upper ~ ';' %}{% endfor %}\n\
        {% macro line(a, b='-') %}<{{ a }}{{ b }}>{% endmacro %}\n\
        {% set block %}{{ line(ns.n) }}{{ line('x', b=1 + 1) }}{% endset %}\n\
        {{ block }} {{ ns.text }} {{ [3, 1, 2] | sort | join(', ') }} {{ 'abc'[1:] }} {{ (1, 2) + (3,) }}\n\
        {{ ['a', 'b'] | map('upper') | list }} {{ {'k': [1]}.k[0] }} {{ nobody | default('none') }}\n\
        {{ [] | first | default('empty') }} {{ range(3) | list }} {{ [1] | zip(*[[2], [3]]) | list }} {{ 'b' in 'abc' }}\n\
        {% for k, v in {'a': 1} | items %}{{ k }}={{ v }}{% else %}none{% endfor %}\n\
        {{ 1 if 1 < n_live + 3 < 9 else 2 }} {{ 'x' ~ 1 }} {{ 'a,b' | split(',') | reverse | join('+') }}\n\
        {% for a in [[1, [2]]] recursive %}{{ a if a is number else loop(a) }}.{% endfor %}\n";
    project.write(".blue/templates/digest.md", template);
    project.build();
    let text = project.read("knowledge/adrs.md");
    let text = text.split_once("-->\n").unwrap().1;
    let expected = "<2-><x2> 0001 ONE; 1, 2, 3 bc (1, 2, 3)\n['A', 'B'] 1 none\n\
        empty [0, 1, 2] [(1, 2, 3)] True\na=11 x1 b+a\n1.2...\n";
    assert_eq!(text, expected);
}
