"""Projects that Maven and Gradle really build, in repositories that a server may clone."""

from pathlib import Path
from typing import Final

from tests.runners.lake.repositories import Repository

POM: Final = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>org.example</groupId><artifactId>hello</artifactId><version>1.0</version>
  <properties>
    <maven.compiler.source>17</maven.compiler.source><maven.compiler.target>17</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies>
    <dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.x</version><scope>test</scope></dependency>
  </dependencies>
  <build><plugins><plugin>
    <groupId>org.apache.maven.plugins</groupId><artifactId>maven-jar-plugin</artifactId>
    <configuration><archive><manifest><mainClass>org.example.Hello</mainClass></manifest></archive></configuration>
  </plugin></plugins></build>
</project>
"""
GRADLE: Final = """\
apply plugin: 'java'
jar { manifest { attributes 'Main-Class': 'org.example.Hello' } }
"""
# Greets, waits for a file where it is told to, and ends as it is told to.
HELLO: Final = """\
package org.example;

import java.io.File;

public class Hello {
    static String greeting(String who) { return "hello " + who; }

    public static void main(String[] args) throws Exception {
        System.out.println(greeting(args[0]));
        while (args.length > 1 && !new File(args[1]).exists()) Thread.sleep(20);
        System.exit(args.length > 2 ? Integer.parseInt(args[2]) : 0);
    }
}
"""
TEST: Final = """\
package org.example;

import java.nio.file.*;
import static org.junit.Assert.assertEquals;

public class HelloTest {
    @org.junit.Test public void greets() throws Exception {
        assertEquals("hello you", Hello.greeting("you"));
        %s
    }
}
"""
# Tells its own number, and holds the build up for good.
HANGS: Final = 'Files.writeString(Path.of("%s"), "" + ProcessHandle.current().pid()); Thread.sleep(600_000);'


class MavenProject(Repository):
    """Its branches share what Maven has copied for them, since they have one address."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.change(hello=HELLO)

    def branch(self, name: str, *, hello: str = HELLO, in_test: str = "") -> str:
        """A commit of its own, which is in no other branch."""
        self.git("checkout", "--quiet", "-B", name, "main")
        return self.change(hello=hello, in_test=in_test, readme=name)

    def change(self, *, hello: str, in_test: str = "", readme: str = "") -> str:
        files = {
            "README": readme,
            "pom.xml": POM,
            "src/main/java/org/example/Hello.java": hello,
            "src/test/java/org/example/HelloTest.java": TEST % in_test,
        }
        return self.add({name: text.encode() for name, text in files.items()})


def gradle_project(path: Path) -> Repository:
    repository = Repository(path)
    files = {
        "build.gradle": GRADLE,
        "settings.gradle": "rootProject.name = 'hello'\n",
        "src/main/java/org/example/Hello.java": HELLO,
    }
    repository.add({name: text.encode() for name, text in files.items()})
    return repository
